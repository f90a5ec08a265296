/**
 * What a run of vitest came to, for the gate, in files beside each other: KEYPLANE_GATE_REPORT names them up to their
 * endings. A run adds to what is there, of runs before it or beside it. `count` has how many tests passed and how many
 * things did not; `failed` tells those; `files` lists the test files to run once more, and is empty where failed tests
 * are not all that went wrong.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, SerializedError, TestCase, TestModule } from "vitest/node";

/** Lines that are shown of a failure. */
const MAX_LINES = 12;

export default class GateReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const report = process.env.KEYPLANE_GATE_REPORT;
    if (report === undefined) throw new Error("KEYPLANE_GATE_REPORT must say where the report is to be");
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const passed = tests.filter((test) => test.result().state === "passed");
    const failed = tests.filter((test) => test.result().state === "failed");
    const others = [
      ...unhandled.map((error) => tell("an error that no test has caught", [error])),
      ...modules.filter(isBroken).map((module) => tell(`${fileOf(module)}: not run to its end`, errorsOf(module))),
      ...tests.filter(isLeftOut).map((test) => tell(`${titleOf(test)}: not run, which in the gate is a failure`, [])),
    ];
    const lines = [...failed.map((test) => tell(titleOf(test), test.result().errors ?? [])), ...others];
    const files = [...new Set(failed.map(({ module }) => fileOf(module)))].map((file) => `${file}\n`).join("");
    const before = {
      counts: readOf(`${report}.count`).split(" ").map(Number),
      failed: readOf(`${report}.failed`),
      files: readOf(`${report}.files`),
    };
    const [passedBefore = 0, failedBefore = 0] = before.counts;
    const isMore = others.length > 0 || (failedBefore > 0 && before.files === "");
    writeFileSync(`${report}.count`, `${passedBefore + passed.length} ${failedBefore + lines.length}\n`);
    writeFileSync(`${report}.failed`, before.failed + lines.join(""));
    writeFileSync(`${report}.files`, isMore ? "" : before.files + files);
  }
}

/** Empty where no run has written it. */
const readOf = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");

/** Of loading it, and of what its tests share. */
function errorsOf(module: TestModule): readonly SerializedError[] {
  return [module, ...module.children.allSuites()].flatMap((one) => one.errors());
}

/** Its worker has died, or there are such errors. */
function isBroken(module: TestModule): boolean {
  return errorsOf(module).length > 0 || !["passed", "failed", "skipped"].includes(module.state());
}

function isLeftOut(test: TestCase): boolean {
  return !["passed", "failed"].includes(test.result().state) && !isBroken(test.module);
}

const fileOf = ({ moduleId }: TestModule): string => relative(process.cwd(), moduleId);
const titleOf = (test: TestCase): string => `${fileOf(test.module)} > ${test.fullName}`;

function tell(what: string, errors: readonly SerializedError[]): string {
  const lines = errors.flatMap(({ message = "", stack = "" }) => `${message}\n${stack}`.split("\n"));
  const ours = lines.filter((line) => !/^\s+at .*(node_modules|new Promise)/.test(line));
  return [`FAILED ${what}`, ...ours.slice(0, MAX_LINES).map((line) => `  ${line}`), ""].join("\n");
}
