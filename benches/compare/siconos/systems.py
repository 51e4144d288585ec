"""Steps per second of small systems in Siconos (Debian's python3-siconos 4.4.0), and its Lemke on the files of a folder.

    /usr/bin/python3 benches/compare/siconos/systems.py            # beside: cargo run --release -p moreau-systems --example steps_per_second -- auto
    /usr/bin/python3 benches/compare/siconos/systems.py FOLDER     # writes random problems there and solves them; beside: moreau solve FOLDER/*.lcp --solver lemke

One thread. The loop over steps is Python's: two calls a step.
"""

import subprocess
import sys
import tempfile
import time

import numpy as np
import siconos.kernel as sk
import siconos.numerics as sn


def run(name, model, integrator, problem, h, steps):
    measure(name, sk.TimeStepping(model, sk.TimeDiscretisation(0, h), integrator, problem), steps)


def measure(name, simulation, steps):
    """Steps per second, the best of five parts of the run."""
    best, part = 0.0, steps // 5
    for _ in range(5):
        begin = time.process_time()
        for _ in range(part):
            simulation.computeOneStep()
            simulation.nextStep()
        best = max(best, part / (time.process_time() - begin))
    print(f"{name:20} {best:10.0f} steps/s", flush=True)


def ball(steps):
    system = sk.LagrangianLinearTIDS([1.0], [0.0], np.eye(1))
    system.setFExtPtr(np.array([-9.81]))
    contact = sk.Interaction(sk.NewtonImpactNSL(0.9), sk.LagrangianLinearTIR(np.eye(1)))
    model = sk.NonSmoothDynamicalSystem(0, 1e9)
    model.insertDynamicalSystem(system)
    model.link(contact, system)
    run("bouncing ball", model, sk.MoreauJeanOSI(0.5), sk.LCP(), 5e-3, steps)


def diode_bridge(steps):
    l, c, r = 1e-2, 1e-6, 1e3
    system = sk.FirstOrderLinearDS([10.0, 0.0], [[0.0, -1.0 / c], [1.0 / l, 0.0]])
    relation = sk.FirstOrderLinearTIR([[0.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [1.0, 0.0]], [[0.0, 0.0, -1.0 / c, 1.0 / c], [0.0] * 4])
    relation.setDPtr(np.array([[1.0 / r, 1.0 / r, -1.0, 0.0], [1.0 / r, 1.0 / r, 0.0, -1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]))
    diodes = sk.Interaction(sk.ComplementarityConditionNSL(4), relation)
    model = sk.NonSmoothDynamicalSystem(0, 1e9)
    model.insertDynamicalSystem(system)
    model.link(diodes, system)
    run("diode bridge", model, sk.EulerMoreauOSI(0.5), sk.LCP(), 1e-6, steps)


def follower(steps):
    system = sk.LagrangianLinearTIDS([0.4], [0.4], 1.221 * np.eye(1), 1430.8 * np.eye(1), np.zeros((1, 1)))
    stop = sk.Interaction(sk.NewtonImpactNSL(0.8), sk.LagrangianLinearTIR(np.eye(1)))
    model = sk.NonSmoothDynamicalSystem(0, 1e9)
    model.insertDynamicalSystem(system)
    model.link(stop, system)
    run("cam follower", model, sk.MoreauJeanOSI(0.5), sk.LCP(), 1e-4, steps)


# The arm of the example, in C: forces on the left side, matrices column by column.
ARM = """
#include <math.h>
#define L 0.5
#define G 9.81
#define Q unsigned n, const double *q
#define V Q, const double *v
#define Z unsigned size, double *z
void mass(Q, double *m, Z) {
  double c = cos(q[1]), i = 1.0 / 48.0, s = L * L;
  m[0] = s / 4 + 2 * i + (s + s / 4 + s * c);
  m[1] = m[2] = i + s / 4 + s * c / 2;
  m[3] = i + s / 4;
}
void gyr(V, double *f, Z) {
  double s = L * L * sin(q[1]), a = cos(q[0]), b = cos(q[0] + q[1]);
  f[0] = -s * (v[0] * v[1] + v[1] * v[1] / 2) + G * L * (1.5 * a + b / 2);
  f[1] = s * v[0] * v[0] / 2 + G * L * b / 2;
}
void gyr_by_q(V, double *f, Z) {
  double c = L * L * cos(q[1]), a = sin(q[0]), b = sin(q[0] + q[1]);
  f[0] = -G * L * (1.5 * a + b / 2);
  f[1] = -G * L * b / 2;
  f[2] = -c * (v[0] * v[1] + v[1] * v[1] / 2) - G * L * b / 2;
  f[3] = c * v[0] * v[0] / 2 - G * L * b / 2;
}
void gyr_by_v(V, double *f, Z) {
  double s = L * L * sin(q[1]);
  f[0] = -s * v[1];
  f[1] = s * v[0];
  f[2] = -s * (v[0] + v[1]);
  f[3] = 0;
}
void elbow(Q, unsigned m, double *y, Z) { y[0] = 0.3 + L * sin(q[0]); }
void elbow_by_q(Q, unsigned m, double *h, Z) { h[0] = L * cos(q[0]); h[1] = 0; }
void tip(Q, unsigned m, double *y, Z) { y[0] = 0.3 + L * sin(q[0]) + L * sin(q[0] + q[1]); }
void tip_by_q(Q, unsigned m, double *h, Z) { h[1] = L * cos(q[0] + q[1]); h[0] = L * cos(q[0]) + h[1]; }
"""


def arm(steps):
    """Newton's loop to 1e-12, as there."""
    with tempfile.TemporaryDirectory() as place:
        plugin = f"{place}/ArmPlugin"
        with open(f"{plugin}.c", "w") as file:
            file.write(ARM)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", f"{plugin}.so", f"{plugin}.c", "-lm"], check=True)
        system = sk.LagrangianDS([1.0, -0.8], [0.0, 0.0])
        system.setComputeMassFunction(plugin, "mass")
        system.setComputeFGyrFunction(plugin, "gyr")
        system.setComputeJacobianFGyrqFunction(plugin, "gyr_by_q")
        system.setComputeJacobianFGyrqDotFunction(plugin, "gyr_by_v")
        model = sk.NonSmoothDynamicalSystem(0, 1e9)
        model.insertDynamicalSystem(system)
        for name in ("elbow", "tip"):
            relation = sk.LagrangianScleronomousR(f"{plugin}:{name}", f"{plugin}:{name}_by_q")
            model.link(sk.Interaction(sk.NewtonImpactNSL(0.7), relation), system)
        h = 1e-4
        simulation = sk.TimeStepping(model, sk.TimeDiscretisation(0, h), sk.MoreauJeanOSI(0.5), sk.LCP())
        simulation.setNewtonTolerance(1e-12)
        simulation.setNewtonMaxIteration(50)
        measure("two-link arm", simulation, steps)


def chain(masses, steps):
    """Masses in a row, 1 mm apart, the first thrown at the others, e = 0.5. Springs with compliance are not in the Python module."""
    model = sk.NonSmoothDynamicalSystem(0, 1e9)
    systems = []
    for k in range(masses):
        system = sk.LagrangianLinearTIDS([0.011 * k], [1.0 if k == 0 else 0.0], np.eye(1))
        model.insertDynamicalSystem(system)
        systems.append(system)
    for a, b in zip(systems, systems[1:]):
        relation = sk.LagrangianLinearTIR(np.array([[-1.0, 1.0]]), np.array([-0.01]))
        model.link(sk.Interaction(sk.NewtonImpactNSL(0.5), relation), a, b)
    run(f"row of {masses}", model, sk.MoreauJeanOSI(0.5), sk.LCP(), 1e-3, steps)


def lemke(folder):
    """Random problems with M = A Aᵀ/n + I, as files; the least of several solves of each."""
    random = np.random.default_rng(1)
    for n in (10, 20, 50, 100, 200):
        a = random.uniform(-1.0, 1.0, (n, n))
        m, q = a @ a.T / n + np.eye(n), random.uniform(-1.0, 1.0, n)
        with open(f"{folder}/{n:03}.lcp", "w") as file:
            rows = "\n".join(" ".join(repr(float(x)) for x in row) for row in m)
            file.write(f"moreau-lcp 1\nn {n}\nM\n{rows}\nq\n" + " ".join(repr(float(x)) for x in q) + "\n")
        problem, options = sn.LCP(m, q), sn.SolverOptions(sn.SICONOS_LCP_LEMKE)
        best = np.inf
        for _ in range(50):
            z, w = np.zeros(n), np.zeros(n)
            begin = time.perf_counter()
            info = sn.lcp_lexicolemke(problem, z, w, options)
            best = min(best, time.perf_counter() - begin)
        worst = np.abs(np.minimum(z, m @ z + q)).max()
        print(f"n = {n:3}: {1e6 * best:9.1f} µs, info {info}, |min(z, w)| ≤ {worst:.0e}", flush=True)


if len(sys.argv) > 1:
    lemke(sys.argv[1])
else:
    ball(200_000)
    diode_bridge(50_000)
    follower(100_000)
    arm(20_000)
    chain(100, 1000)
    chain(1000, 200)
