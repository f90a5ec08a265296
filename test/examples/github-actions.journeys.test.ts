/** The workflow as a runner would take it: its shell steps, in order, on a branch and its base. GitHub itself is a stand-in. */
import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { ROOT, read } from "../architecture/sources.ts";
import { openShellCommand, type ShellCommand } from "../cli/shell-command.ts";
import { key, team } from "../cli/up.ts";

type Step = { name?: string; uses?: string; run?: string; env?: Record<string, string> };
type Job = { permissions: Record<string, string>; steps: Step[] };

const FILE = "examples/github-actions/keyplane.yml";
const workflow: { on: object; permissions: object; jobs: Record<"plan" | "comment", Job> } = parse(read(FILE));
const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);

let command: ShellCommand;
beforeAll(async () => {
  command = await openShellCommand();
});
afterAll(() => command.close());

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keyplane-workflow-"));
  mkdirSync(join(folder, "bin"));
  program("keyplane", `${command.definition}\nkeyplane "$@"`);
  process.chdir(folder);
  // What is asked of GitHub, and of the comments there are the id of the one that is ours.
  program(
    "gh",
    `echo "$*" >> ${folder}/asked; case "$*" in *--paginate*) cat ${folder}/comments;; *) cat > ${folder}/body;; esac`,
  );
  writeFileSync(join(folder, "comments"), "");
});
afterEach(() => {
  process.chdir(ROOT);
  rmSync(folder, { recursive: true });
});

function program(name: string, script: string): void {
  writeFileSync(join(folder, "bin", name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, "bin", name), 0o755);
}

function write(side: "base" | "branch", text: string): void {
  mkdirSync(join(folder, side, "manifests"), { recursive: true });
  writeFileSync(join(folder, side, "manifests/all.yaml"), text);
}

/** Runs a step as GitHub does, by `bash -e`; returns its exit code. */
async function run(name: string, env: Record<string, string> = {}): Promise<number> {
  const script = steps.find((step) => step.name === name)?.run ?? expect.fail(`there is no step ${name}`);
  const PATH = `${join(folder, "bin")}:${process.env.PATH}`;
  const files = { GITHUB_OUTPUT: join(folder, "output"), GITHUB_STEP_SUMMARY: join(folder, "summary") };
  return promisify(execFile)("bash", ["-e", "-c", script], { cwd: folder, env: { PATH, ...files, ...env } }).then(
    () => 0,
    ({ code }) => code,
  );
}

/** The plan that the steps hand on. */
function handedOn(): string {
  const [, end = "", text = ""] =
    /^comment<<([0-9a-f]{32})\n([\s\S]*)\n\1\n$/.exec(readFileSync(join(folder, "output"), "utf8")) ?? [];
  expect(end).not.toBe("");
  return text;
}

const declared = team("research", "dev") + key("reader", "preset: MCPReadOnly");

describe("the workflow for pull requests", () => {
  test("takes actions by their commits, and gives each job no more than it needs", () => {
    const used = steps.flatMap(({ uses }) => (uses === undefined ? [] : [uses]));
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((uses) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/.test(uses))).toEqual([]);
    expect(workflow.permissions).toEqual({});
    expect(workflow.jobs.plan.permissions).toEqual({ contents: "read" });
    expect(workflow.jobs.comment.permissions).toEqual({ "pull-requests": "write" });
  });

  test("runs for each pull request: a required job that a filter leaves out waits for ever", () => {
    expect(workflow.on).toEqual({ pull_request: null });
  });

  test("lets nothing that a pull request brings into a script but by a variable", () => {
    expect(steps.filter(({ run = "" }) => run.includes("${{"))).toEqual([]);
    // The job that may write has nothing of the branch, and installs nothing.
    expect(workflow.jobs.comment.steps.map(({ name }) => name)).toEqual(["Comment"]);
  });

  test("plans the branch against its base, and comments once", async () => {
    write("base", declared);
    write("branch", declared.replace("MCPReadOnly", "MCPReadWrite"));
    expect(await run("Plan")).toBe(0);
    const plan = handedOn();
    expect(plan).toContain("### keyplane plan: 0 to create, 1 to change, 0 to delete, 1 unchanged");
    expect(readFileSync(join(folder, "summary"), "utf8").trimEnd()).toBe(plan);

    const github = { REPOSITORY: "example/keys", NUMBER: "7", PLAN: plan };
    expect(await run("Comment", github)).toBe(0);
    expect(readFileSync(join(folder, "body"), "utf8")).toBe(plan);
    writeFileSync(join(folder, "comments"), "41\n");
    expect(await run("Comment", github)).toBe(0);
    const asked = readFileSync(join(folder, "asked"), "utf8")
      .split("\n")
      .map((line) => /--method \w+ \S+/.exec(line)?.[0]);
    expect(asked.filter((one) => one !== undefined)).toEqual([
      "--method POST repos/example/keys/issues/7/comments",
      "--method PATCH repos/example/keys/issues/comments/41",
    ]);
  });

  test("fails for a faulty branch, and has the plan of it all the same", async () => {
    write("base", declared);
    write("branch", declared.replace("MCPReadOnly", "MCPReadOnli"));
    expect(await run("Validate")).toBe(1);
    expect(await run("Plan")).toBe(1);
    expect(handedOn()).toContain("did you mean MCPReadOnly?");
  });

  test("fails for a key that would get no version, and has the plan of it all the same", async () => {
    write("base", declared);
    write("branch", declared.replace(/namespaces: \[.*?\]/, "namespaces: [elsewhere]"));
    expect(await run("Plan")).toBe(1);
    expect(handedOn()).toContain("will not be ready: NamespaceUnclaimed");
  });

  test("plans the first branch, whose base has no manifests yet", async () => {
    write("branch", declared);
    expect(existsSync(join(folder, "base"))).toBe(false);
    expect(await run("Plan")).toBe(0);
    expect(handedOn()).toContain("2 to create");
  });
});
