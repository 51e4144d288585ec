"""Pinocchio's contact solvers on stored problems (FCLIB files, local form). Their answers are written beside, for `moreau verify`. README.md says how to run it."""

import argparse
import shutil
import time
from pathlib import Path

import h5py
import numpy as np
import pinocchio
from scipy.sparse import csc_matrix


def problem(file):
    """W, q and μ, with the normal last in every contact as Pinocchio has it, and the order of the rows."""
    local = file["fclib_local"]
    stored = local["W"]
    m, n = int(stored["m"][0]), int(stored["n"][0])
    w = csc_matrix((stored["x"][:], stored["i"][:], stored["p"][:]), shape=(n, m)).toarray().T
    order = np.arange(m).reshape(-1, 3)[:, [1, 2, 0]].ravel()
    return w[np.ix_(order, order)], local["vectors/q"][:][order], local["vectors/mu"][:], order


def constraints(friction):
    """Contacts that are nothing but a cone."""
    body = pinocchio.Model()
    models, datas = pinocchio.StdVec_ConstraintModel(), pinocchio.StdVec_ConstraintData()
    for mu in friction:
        contact = pinocchio.PointContactConstraintModel(body)
        contact.setFriction(float(mu))
        models.append(pinocchio.ConstraintModel(contact))
        datas.append(pinocchio.ConstraintData(contact.createData()))
    return models, datas


def solve(method, w, q, friction, tolerance, most):
    solver = getattr(pinocchio, f"{method}ConstraintSolver")(len(q))
    settings = getattr(pinocchio, f"{method}SolverSettings")()
    result = getattr(pinocchio, f"{method}SolverResult")()
    settings.max_iterations = most
    settings.solve_ncp = True
    for name in ("absolute_feasibility_tol", "absolute_complementarity_tol"):
        setattr(settings, name, tolerance)
    for name in ("relative_feasibility_tol", "relative_complementarity_tol"):
        setattr(settings, name, 0.0)
    models, datas = constraints(friction)
    delassus = pinocchio.DelassusOperatorDense(w)
    begin = time.perf_counter()
    converged = solver.solve(delassus, q, models, datas, settings, result)
    took = time.perf_counter() - begin
    return converged, result.iterations, took, np.asarray(result.retrieveConstraintImpulses()).ravel()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="FCLIB files")
    parser.add_argument("out", type=Path, help="where the answers go")
    parser.add_argument("--tol", type=float, default=1e-8, help="Pinocchio's feasibility and complementarity")
    parser.add_argument("--most", type=int, default=10_000, help="iterations")
    options = parser.parse_args()
    print("| problem | contacts | method | converged | iterations | ms |")
    print("|---|---:|---|---|---:|---:|")
    for path in sorted(options.folder.glob("*.hdf5")):
        with h5py.File(path) as file:
            w, q, friction, order = problem(file)
        for method in ("ADMM", "PGS"):
            converged, iterations, took, impulse = solve(method, w, q, friction, options.tol, options.most)
            print(f"| {path.stem} | {len(friction)} | {method} | {converged} | {iterations} | {took * 1e3:.1f} |", flush=True)
            folder = options.out / method
            folder.mkdir(parents=True, exist_ok=True)
            copy = shutil.copy(path, folder / path.name)
            with h5py.File(copy, "r+") as file:
                r = np.empty_like(impulse)
                r[order] = impulse
                full, base = np.zeros_like(r), np.zeros_like(r)
                full[order] = w @ impulse + q
                file["solution/r"][:] = r
                file["solution/u"][:] = full


if __name__ == "__main__":
    main()
