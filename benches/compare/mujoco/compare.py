"""Moreau beside MuJoCo, on the same MJCF files. README.md says how to run it."""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from importlib.util import find_spec
from pathlib import Path

import mujoco
import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
OWN = [HERE / "arm.xml", HERE / "free.xml"]
STANDING = [(HERE / "humanoid.xml", None), (ROOT / "engine/robots/tests/quadruped.xml", "crouch")]
STEPS = [4e-3, 2e-3, 1e-3]
REFERENCE_STEP = 1e-5
LONGEST = 90


def wheel_models():
    """Every MJCF of the two wheels that MuJoCo itself reads."""
    for package in ("gymnasium", "dm_control"):
        spec = find_spec(package)
        if spec is None:
            print(f"{package} is not installed", file=sys.stderr)
            continue
        folder = Path(spec.origin).parent
        for path in sorted(folder.rglob("*.xml")):
            try:
                model = mujoco.MjModel.from_xml_path(str(path))
            except ValueError:
                continue
            if model.nv > 0:
                yield f"{package}/{path.relative_to(folder)}", path, model


def matrix(q):
    """Of a quaternion x, y, z, w."""
    x, y, z, w = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])


def groups(model):
    """Bodies that are welded together: name of the first one, and all of them. What is welded to the world is left out."""
    for first in range(1, model.nbody):
        if model.body_weldid[first] == first:
            all_of_it = [body for body in range(model.nbody) if model.body_weldid[body] == first]
            yield model.body(first).name or f"body {first}", first, all_of_it


class Moreau:
    def __init__(self, program, folder):
        self.program, self.folder = program, Path(folder)

    def start(self, command):
        try:
            words = [str(word) for word in command]
            done = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"longer than {LONGEST} s") from None
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        return done

    def run(self, file, *arguments):
        """State at the end."""
        out = self.folder / "state.json"
        command = [self.program, "run", file, "--state", out, *arguments]
        self.start(command)
        return json.loads(out.read_text())

    def scene(self, file, *arguments):
        """The scene that a robot file becomes, and what of it was not understood."""
        out = self.folder / "scene.toml"
        command = [self.program, "convert", file, out, *arguments]
        done = self.start(command)
        notes = [line for line in done.stderr.splitlines() if "change no motion" not in line]
        return tomllib.loads(out.read_text()), notes


def masses(moreau):
    """Mass, centre and inertia of every body after reading, beside MuJoCo's; and whether twenty steps go through."""
    print("| model | tendons | fluid | bodies | mass, rel | centre, m | inertia, rel | not as it stands | twenty steps |")
    print("|---|---|---|---:|---:|---:|---:|---:|---|")
    for name, path, model in wheel_models():
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        fluid = "yes" if model.opt.density > 0 or model.opt.viscosity > 0 else ""
        head = f"| {name} | {model.ntendon or ''} | {fluid} "
        try:
            scene, notes = moreau.scene(path)
        except RuntimeError as error:
            print(f"{head}| refused: {error} |||||| |")
            continue
        bodies = {body["name"]: body for body in scene["bodies"] if body["kind"] == "dynamic"}
        worst, count = np.zeros(3), 0
        for name_of, first, parts in groups(model):
            body = bodies.get(name_of)
            if body is None:
                continue
            count += 1
            mass = sum(model.body_mass[part] for part in parts)
            centre = sum(model.body_mass[part] * data.xipos[part] for part in parts) / mass
            tensor = np.zeros((3, 3))
            for part in parts:
                axes = data.ximat[part].reshape(3, 3)
                d = data.xipos[part] - centre
                tensor += axes @ np.diag(model.body_inertia[part]) @ axes.T
                tensor += model.body_mass[part] * (d @ d * np.eye(3) - np.outer(d, d))
            axes = matrix(body["orientation"]) @ matrix(body["mass"]["principal_frame"])
            found = axes @ np.diag(body["mass"]["principal_inertia"]) @ axes.T
            worst = np.maximum(worst, [
                abs(body["mass"]["mass"] / mass - 1),
                np.abs(np.array(body["position"]) - centre).max(),
                np.abs(found - tensor).max() / np.abs(tensor).max(),
            ])
        try:
            moreau.run(path, "--steps", 20)
            ran = "ok"
        except RuntimeError as error:
            ran = str(error)[:60]
        print(f"{head}| {count} | {worst[0]:.1e} | {worst[1]:.1e} | {worst[2]:.1e} | {len(notes)} | {ran} |")


def disturbed(model, seed=1):
    """Coordinates and velocities to start from."""
    random = np.random.default_rng(seed)
    velocity = 0.5 * random.standard_normal(model.nv)
    position = model.qpos0.copy()
    mujoco.mj_integratePos(model, position, 0.3 * random.standard_normal(model.nv), 1.0)
    return position, velocity


def wrapped(path, folder, position, velocity):
    """The model without contacts, limits, dry friction and equalities, and with a keyframe. Files beside it are copied."""
    here = Path(folder) / "model"
    shutil.rmtree(here, ignore_errors=True)
    shutil.copytree(path.parent, here)
    flags = 'contact="disable" limit="disable" frictionloss="disable" equality="disable"'
    numbers = lambda values: " ".join(f"{value:.17g}" for value in values)
    file = here / "contact_free.xml"
    file.write_text(f"""<mujoco><include file="{path.name}"/><option><flag {flags}/></option>
        <keyframe><key name="start" qpos="{numbers(position)}" qvel="{numbers(velocity)}"/></keyframe></mujoco>""")
    return file


def after(model, key, time):
    """MuJoCo's state at a time, by Runge and Kutta's method."""
    model.opt.timestep = REFERENCE_STEP
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, key)
    for _ in range(round(time / REFERENCE_STEP)):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    return data


def errors(model, data, state):
    """The largest distance of a centre of mass, m, and the largest angle, rad."""
    bodies = {body["name"]: body for body in state["bodies"]}
    place, turn = 0.0, 0.0
    for name, first, parts in groups(model):
        body = bodies.get(name)
        if body is None:
            continue
        mass = sum(model.body_mass[part] for part in parts)
        centre = sum(model.body_mass[part] * data.xipos[part] for part in parts) / mass
        place = max(place, np.linalg.norm(np.array(body["position"]) - centre))
        between = matrix(body["orientation"]).T @ data.xmat[first].reshape(3, 3)
        skew = np.array([between[2, 1] - between[1, 2], between[0, 2] - between[2, 0], between[1, 0] - between[0, 1]])
        turn = max(turn, math.atan2(np.linalg.norm(skew) / 2, (np.trace(between) - 1) / 2))
    return place, turn


def motion(moreau, names, time):
    """Contact-free motion: errors after a time at three steps."""
    print("| model | degrees of freedom | m at 4 ms | 2 ms | 1 ms | order | | rad at 4 ms | 2 ms | 1 ms | order | |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    models = [(path.name, path, mujoco.MjModel.from_xml_path(str(path))) for path in OWN] + list(wheel_models())
    for name, path, model in models:
        fluid = model.opt.density > 0 or model.opt.viscosity > 0
        if model.ntendon or fluid or (names and not any(part in name for part in names)):
            continue
        position, velocity = disturbed(model)
        file = wrapped(path, moreau.folder, position, velocity)
        try:
            model = mujoco.MjModel.from_xml_path(str(file))
            data = after(model, model.key("start").id, time)
            found = []
            for step in STEPS:
                arguments = ["--keyframe", "start", "--dt", step, "--time", time, "--awake", "--accuracy", "reference"]
                found.append(errors(model, data, moreau.run(file, *arguments)))
        except (RuntimeError, ValueError) as error:
            print(f"| {name} | {model.nv} | {str(error)[:90]} ||||||||||", flush=True)
            continue
        row = []
        for column in zip(*found):
            row += [f"{error:.1e}" for error in column]
            row += [f"{math.log2(a / b):.2f}" if b > 0 else "" for a, b in zip(column, column[1:])]
        print(f"| {name} | {model.nv} | " + " | ".join(row) + " |", flush=True)


def standing(moreau, time):
    """What contacts bear, and what the joints of the first body bear, beside the weights."""
    print("| model | engine | weight, N | contacts bear, N | weight of the base, N | its joints bear, N |")
    print("|---|---|---:|---:|---:|---:|")
    for path, key in STANDING:
        model = mujoco.MjModel.from_xml_path(str(path))
        data = mujoco.MjData(model)
        if key is not None:
            mujoco.mj_resetDataKeyframe(model, data, model.key(key).id)
        for _ in range(round(time / model.opt.timestep)):
            mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        up = 0.0
        for index, contact in enumerate(data.contact):
            force = np.zeros(6)
            mujoco.mj_contactForce(model, data, index, force)
            if 0 in model.body_weldid[model.geom_bodyid[contact.geom]]:
                up += abs((contact.frame.reshape(3, 3).T @ force[:3])[2])
        children = [body for body in range(1, model.nbody) if model.body_parentid[body] == 1]
        joints = -sum(data.cfrc_int[body][5] for body in children)
        gravity = -model.opt.gravity[2]
        weight, base = gravity * sum(model.body_mass), gravity * model.body_mass[1]
        row = lambda engine, up, joints: print(
            f"| {path.name} | {engine} | {weight:.4f} | {up:.4f} | {base:.4f} | {joints:.4f} |")
        row("MuJoCo", up, joints)

        arguments = [] if key is None else ["--keyframe", key]
        scene, _ = moreau.scene(path, *arguments)
        state = moreau.run(path, "--time", time, "--awake", *arguments)
        names = {body["name"] for body in scene["bodies"] if body["kind"] == "static"}
        up = sum(contact["force"][2] * (-1 if contact["a"] in names else 1)
                 for contact in state["contacts"] if {contact["a"], contact["b"]} & names)
        first = model.body(1).name
        pose = {body["name"]: matrix(body["orientation"]) for body in state["bodies"]}
        forces = {joint["name"]: np.array(joint["force"]) for joint in state["joints"]}
        joints = 0.0
        for joint in scene["joints"]:
            if joint.get("a") == first:
                frame = pose[first] @ matrix(joint["frames"][0]["orientation"])
                # On body B; the base bears the opposite.
                joints -= (frame @ forces[joint["name"]])[2]
        row("Moreau", up, joints)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["masses", "motion", "standing"])
    parser.add_argument("models", nargs="*", help="parts of the names of models, for motion")
    parser.add_argument("--moreau", default=ROOT / "target/release/moreau")
    parser.add_argument("--time", type=float, help="s; 1 for motion, 6 for standing")
    options = parser.parse_args()
    options.moreau = Path(options.moreau).resolve()
    with tempfile.TemporaryDirectory() as folder:
        # MuJoCo writes its log where it runs.
        os.chdir(folder)
        moreau = Moreau(options.moreau, folder)
        if options.what == "masses":
            masses(moreau)
        elif options.what == "motion":
            motion(moreau, options.models, options.time or 1.0)
        else:
            standing(moreau, options.time or 6.0)


if __name__ == "__main__":
    main()
