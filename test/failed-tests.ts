/**
 * What failed in a run of vitest, from its JSON report: `node test/failed-tests.ts REPORT [--files]`. Prints each test
 * with the first lines of its failure, or the names of their files alone. A file that could not be run counts too.
 */
import { readFileSync } from "node:fs";
import { relative } from "node:path";

type Report = {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
};

/** Lines of a failure. */
const MAX_LINES = 12;

const [report = "", option] = process.argv.slice(2);
const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report;
for (const { name, message, assertionResults } of testResults.filter(({ status }) => status === "failed")) {
  const file = relative(process.cwd(), name);
  const failed = assertionResults.filter(({ status }) => status === "failed");
  if (option === "--files") console.log(file);
  else if (failed.length === 0) tell(file, message);
  else for (const { fullName, failureMessages } of failed) tell(`${file} > ${fullName}`, failureMessages?.join("\n"));
}

function tell(what: string, why = ""): void {
  console.log(`FAILED ${what}`);
  const ours = why.split("\n").filter((line) => !/^\s+at .*(node_modules|new Promise)/.test(line));
  for (const line of ours.slice(0, MAX_LINES)) console.log(`  ${line}`);
}
