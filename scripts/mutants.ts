/**
 * Says how many small faults of the code the tests of `npm test` notice. It chooses mutants by a seed, runs the tests
 * that reach each, and tells which survive.
 *
 *     node scripts/mutants.ts reach FOLDER   runs npm test once, and keeps which test file reaches which mutant
 *     node scripts/mutants.ts run FOLDER     runs each mutant that has no result in the folder yet
 *     node scripts/mutants.ts tell FOLDER    says what was caught, and lists what was not
 *
 * FOLDER is outside of the checkout; the checkout itself is never changed: copies of it are.
 */
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import ts from "typescript";
import { randomFrom } from "../test/env/random.ts";

const SEED = Number(process.env.KEYPLANE_SEED ?? 57);
const COUNT = Number(process.env.KEYPLANE_MUTANTS ?? 300);
/** Folders that have the decisions and the statements. */
const FOLDERS = [
  "domain",
  "controller/key",
  "store/keys",
  "server/auth",
  "server/gateway",
  "server/key-index",
  "memory/rules",
  "memory/store",
];
/** Milliseconds after which a run of tests hangs; a mutant on which it hangs has been noticed. */
const HANGS_AFTER_MS = 240_000;
/** Numbers of test files that are run at once, one round after the other until one of them notices the mutant. */
const ROUNDS = [3, 12, 60, 1_000];
/** Number of copies of the checkout, which work beside each other. */
const COPIES = 2;

const root = resolve(import.meta.dirname, "..");

type Mutant = {
  readonly id: number;
  readonly file: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
  readonly isStatement: boolean;
};

/** Result for a mutant: `caughtBy` names the test file that noticed it; left out if none did. */
type Result = { readonly id: number; readonly caughtBy?: string };

type Reach = { readonly file: string; readonly ids: readonly number[]; readonly ms: number };

const OTHER_OPERATOR: Partial<Record<ts.SyntaxKind, string>> = {
  [ts.SyntaxKind.LessThanToken]: "<=",
  [ts.SyntaxKind.LessThanEqualsToken]: "<",
  [ts.SyntaxKind.GreaterThanToken]: ">=",
  [ts.SyntaxKind.GreaterThanEqualsToken]: ">",
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: "!==",
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: "===",
  [ts.SyntaxKind.AmpersandAmpersandToken]: "||",
  [ts.SyntaxKind.BarBarToken]: "&&",
  [ts.SyntaxKind.MinusToken]: "+",
  [ts.SyntaxKind.AsteriskToken]: "/",
};

/**
 * Returns every mutant of a file: a condition turned, a comparison or an operator moved, a literal turned, a statement
 * left out.
 */
function mutantsOf(file: string): Omit<Mutant, "id">[] {
  const text = readFileSync(join(root, file), "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Omit<Mutant, "id">[] = [];
  const add = (node: ts.Node, after: string, isStatement = false): void => {
    const [start, end] = [node.getStart(), node.getEnd()];
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    found.push({ file, line, start, end, before: text.slice(start, end), after, isStatement });
  };
  const visit = (node: ts.Node, isRun: boolean): void => {
    if (ts.isTypeNode(node)) return;
    if (isRun) {
      if (ts.isIfStatement(node) || ts.isWhileStatement(node)) add(node.expression, `!(${node.expression.getText()})`);
      if (ts.isConditionalExpression(node)) add(node.condition, `!(${node.condition.getText()})`);
      if (ts.isBinaryExpression(node)) {
        const other = OTHER_OPERATOR[node.operatorToken.kind];
        if (other !== undefined) add(node, `(${node.left.getText()}) ${other} (${node.right.getText()})`);
      }
      if (node.kind === ts.SyntaxKind.TrueKeyword) add(node, "false");
      if (node.kind === ts.SyntaxKind.FalseKeyword) add(node, "true");
      const isLeftOut = ts.isExpressionStatement(node) || ts.isThrowStatement(node);
      if (isLeftOut && ts.isBlock(node.parent)) add(node, ";", true);
    }
    const enters = isRun || ts.isFunctionLike(node);
    ts.forEachChild(node, (child) => visit(child, enters));
  };
  visit(source, false);
  return found;
}

function chosenMutants(): Mutant[] {
  const files = globSync(
    FOLDERS.map((folder) => `${folder}/**/*.ts`),
    { cwd: root },
  ).sort();
  const all = files.filter((file) => !file.includes("generated")).flatMap(mutantsOf);
  const random = randomFrom(SEED);
  const chosen = Array.from({ length: COUNT }, () => all.splice(random.below(all.length), 1)).flat();
  return chosen.map((mutant, id) => ({ id, ...mutant }));
}

/** Adds probes to a file: each of these mutants, once reached, says so. What the file computes stays the same. */
function withProbes(text: string, mutants: readonly Mutant[]): string {
  const inserts = mutants.flatMap(({ id, start, end, isStatement }) => {
    const call = `globalThis.__reached?.(${id})`;
    return isStatement
      ? [{ at: start, rank: start - end, text: `${call}; ` }]
      : [
          { at: start, rank: start - end, text: `(${call}, ` },
          { at: end, rank: Number.NEGATIVE_INFINITY, text: ")" },
        ];
  });
  inserts.sort((a, b) => b.at - a.at || b.rank - a.rank);
  return inserts.reduce((rest, { at, text: inserted }) => rest.slice(0, at) + inserted + rest.slice(at), text);
}

function copyCheckout(to: string): void {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  const { stdout } = spawnSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" });
  for (const file of stdout.split("\n").filter((name) => name !== "" && existsSync(join(root, name))))
    cpSync(join(root, file), join(to, file));
  spawnSync("cp", ["-al", join(root, "node_modules"), join(to, "node_modules")]);
  // Some tests ask Git what is in the checkout.
  spawnSync("git", ["clone", "--quiet", "--bare", root, join(to, ".git")]);
  spawnSync("git", ["config", "core.bare", "false"], { cwd: to });
  spawnSync("git", ["reset", "--quiet"], { cwd: to });
}

const SETUP = `
import { appendFileSync } from "node:fs";
import { afterAll, expect } from "vitest";
const ids = new Set();
globalThis.__reached = (id) => { ids.add(id); };
const started = performance.now();
afterAll(() => {
  const reach = { file: expect.getState().testPath, ids: [...ids], ms: Math.round(performance.now() - started) };
  appendFileSync(process.env.KEYPLANE_REACH, JSON.stringify(reach) + "\\n");
});
`;
const CONFIG = `
import config from "./vitest.config.ts";
for (const project of config.test.projects) project.test.setupFiles = ["./mutants-setup.ts"];
export default config;
`;

function reach(folder: string): void {
  const copy = join(folder, "reached");
  copyCheckout(copy);
  const mutants = chosenMutants();
  writeFileSync(join(folder, "mutants.json"), JSON.stringify(mutants, undefined, 1));
  for (const file of new Set(mutants.map((mutant) => mutant.file))) {
    const path = join(copy, file);
    writeFileSync(
      path,
      withProbes(
        readFileSync(path, "utf8"),
        mutants.filter((mutant) => mutant.file === file),
      ),
    );
  }
  writeFileSync(join(copy, "mutants-setup.ts"), SETUP);
  writeFileSync(join(copy, "vitest.mutants.config.ts"), CONFIG);
  const output = join(folder, "reach.jsonl");
  rmSync(output, { force: true });
  const options = ["run", "--config", "vitest.mutants.config.ts", "--project", "npm", "--project", "npm-together"];
  spawnSync("node_modules/.bin/vitest", options, {
    cwd: copy,
    stdio: "inherit",
    env: environment({ KEYPLANE_REACH: output }),
  });
}

const environment = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: `${join(root, "node_modules/.bin")}:${process.env.PATH}`,
  ...more,
});

function readLines<Line>(path: string): Line[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** Returns the test files that reach a mutant: the nearest to it first, and the quick ones among them. */
function filesFor(mutant: Mutant, reached: readonly Reach[], copy: string): string[] {
  const parts = mutant.file.replace(/\.ts$/, "").split("/");
  const near = (file: string): number => {
    const others = file
      .replace(/^test\//, "")
      .replace(/\.test\.ts$/, "")
      .split("/");
    return parts.findIndex((part, index) => part !== others[index]) >>> 0;
  };
  return reached
    .filter(({ ids }) => ids.includes(mutant.id))
    .map(({ file, ms }) => ({ file: file.replace(/^.*?\/reached\//, ""), ms }))
    .filter(({ file }) => existsSync(join(copy, file)))
    .sort((a, b) => near(b.file) - near(a.file) || a.ms - b.ms)
    .map(({ file }) => file);
}

/** Runs test files. Returns the file that fails first, or undefined if none does. */
function runTests(files: readonly string[], copy: string): Promise<string | undefined> {
  const report = join(copy, "mutant-report.json");
  rmSync(report, { force: true });
  const options = [
    "run",
    "--project",
    "npm",
    "--project",
    "npm-together",
    "--bail=1",
    "--maxWorkers=2",
    "--reporter=json",
  ];
  const child = spawn("node_modules/.bin/vitest", [...options, `--outputFile=${report}`, ...files], {
    cwd: copy,
    env: environment(),
    stdio: "ignore",
    detached: true,
  });
  return new Promise((done) => {
    const hanging = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), HANGS_AFTER_MS);
    child.on("exit", (code) => {
      clearTimeout(hanging);
      if (code === 0) return done(undefined);
      if (!existsSync(report)) return done(`${files[0]} or one beside it, which hangs or breaks off`);
      const { testResults } = JSON.parse(readFileSync(report, "utf8"));
      const failed = testResults.find(({ status }: { status: string }) => status === "failed");
      done(failed === undefined ? "an error that no test has caught" : relative(copy, failed.name));
    });
  });
}

async function run(folder: string): Promise<void> {
  const mutants: Mutant[] = JSON.parse(readFileSync(join(folder, "mutants.json"), "utf8"));
  const reached = readLines<Reach>(join(folder, "reach.jsonl"));
  const results = join(folder, "results.jsonl");
  const done = new Set(readLines<Result>(results).map(({ id }) => id));
  const waiting = mutants.filter(({ id }) => !done.has(id));
  const work = async (_: unknown, index: number): Promise<void> => {
    const copy = join(folder, `copy-${index}`);
    copyCheckout(copy);
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const path = join(copy, mutant.file);
      const text = readFileSync(path, "utf8");
      writeFileSync(path, text.slice(0, mutant.start) + mutant.after + text.slice(mutant.end));
      let caughtBy: string | undefined;
      const files = filesFor(mutant, reached, copy);
      for (const count of ROUNDS) {
        if (files.length === 0 || caughtBy !== undefined) break;
        caughtBy = await runTests(files.splice(0, count), copy);
      }
      writeFileSync(path, text);
      appendFileSync(results, `${JSON.stringify({ id: mutant.id, caughtBy })}\n`);
    }
  };
  await Promise.all(Array.from({ length: COPIES }, work));
}

function tell(folder: string): void {
  const mutants: Mutant[] = JSON.parse(readFileSync(join(folder, "mutants.json"), "utf8"));
  const results = readLines<Result>(join(folder, "results.jsonl"));
  const survivors = results.filter(({ caughtBy }) => caughtBy === undefined);
  console.log(`${results.length - survivors.length} of ${results.length} caught`);
  for (const { id } of survivors) {
    const mutant = mutants[id];
    if (mutant !== undefined) console.log(`${mutant.file}:${mutant.line}  ${mutant.before}  =>  ${mutant.after}`);
  }
}

const [command, folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: node scripts/mutants.ts reach|run|tell FOLDER");
if (command === "reach") reach(resolve(folder));
else if (command === "run") await run(resolve(folder));
else tell(resolve(folder));
