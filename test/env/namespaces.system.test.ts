import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, test } from "vitest";
import { runInNamespaces } from "./node/namespaces.ts";
import { until } from "./until.ts";

const MODULE = join(import.meta.dirname, "node/namespaces.ts");

/** Says where its things are, once no other process can reach it. */
const COMMAND = ["sh", "-c", 'mkdir /run/seen; echo "$TMPDIR $KEYPLANE_NODE_CGROUP"; sleep 1000'];

describe("namespaces for a node", () => {
  test("a command in them gives its exit code", async () => {
    expect(await runInNamespaces(["sh", "-c", "exit 7"], process.env)).toBe(7);
  });

  test("nothing is left of them when the process that made them is killed", async () => {
    const make = `import { runInNamespaces } from ${JSON.stringify(MODULE)};
      await runInNamespaces(${JSON.stringify(COMMAND)}, process.env);`;
    const maker = spawn(process.execPath, ["--input-type=module-typescript", "--eval", make]);
    const [line] = await once(createInterface({ input: maker.stdout }), "line");
    const [folder = "", cgroup = ""] = String(line).split(" ");
    const cgroups = () => readdirSync("/sys/fs/cgroup").map((hierarchy) => join("/sys/fs/cgroup", hierarchy, cgroup));
    expect(existsSync(folder)).toBe(true);
    expect(cgroups().every((path) => existsSync(path))).toBe(true);
    expect(existsSync("/run/seen")).toBe(false);

    maker.kill("SIGKILL");
    await until("all is gone", () => !existsSync(folder) && !cgroups().some((path) => existsSync(path)));
  });
});
