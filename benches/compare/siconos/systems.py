"""Steps per second of small systems in Siconos (Debian's python3-siconos 4.4.0), and its Lemke on the files of a folder.

    /usr/bin/python3 benches/compare/siconos/systems.py            # beside: cargo run --release -p moreau-systems --example steps_per_second -- auto
    /usr/bin/python3 benches/compare/siconos/systems.py FOLDER     # writes random problems there and solves them; beside: moreau solve FOLDER/*.lcp --solver lemke

One thread. The loop over steps is Python's: two calls a step.
"""

import sys
import time

import numpy as np
import siconos.kernel as sk
import siconos.numerics as sn


def run(name, model, integrator, problem, h, steps):
    """Steps per second."""
    simulation = sk.TimeStepping(model, sk.TimeDiscretisation(0, h), integrator, problem)
    begin = time.process_time()
    for _ in range(steps):
        simulation.computeOneStep()
        simulation.nextStep()
    seconds = time.process_time() - begin
    print(f"{name:20} {steps / seconds:10.0f} steps/s", flush=True)


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
    chain(100, 1000)
    chain(1000, 200)
