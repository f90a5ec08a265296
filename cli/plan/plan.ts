import { Option } from "commander";
import type { Environment } from "../../domain/environment.ts";
import { styled } from "../../runtime/terminal-log.ts";
import { type AddCommand, DETAILED_EXIT_CODE } from "../command/command.ts";
import { UsageError } from "../command/usage-error.ts";
import { outputText } from "../output/output.ts";
import { readStdin } from "../validate/manifest-files.ts";
import { type ComparedFlags, comparedOptions, openCompared } from "./compared.ts";
import { makePlan, type Plan } from "./make-plan.ts";
import { planMarkdown } from "./plan-markdown.ts";
import { countPlan, hasChanges, planDocument, planLines, summarize } from "./plan-output.ts";

type Output = "text" | "json" | "yaml" | "markdown";

/** Formatters by output format. No output contains any part of a credential. */
const OUTPUTS: Readonly<Record<Output, (plan: Plan, hasColours: boolean) => string>> = {
  text: (plan, hasColours) =>
    [...planLines(plan).map((line) => coloured(line, hasColours)), summarize(plan)].join("\n"),
  json: (plan) => outputText(planDocument(plan), "json"),
  yaml: (plan) => outputText(planDocument(plan), "yaml"),
  markdown: planMarkdown,
};

/** Colours a line by its first character, the sign. */
function coloured(line: string, hasColours: boolean): string {
  const style = ({ "+": "green", "~": "yellow", "-": "red", "!": "magenta" } as const)[line.charAt(0)];
  return style === undefined ? line : styled(hasColours, style, line);
}

export const addPlan: AddCommand = (program, { env, out, exit, terminal, progress }) => {
  comparedOptions(
    program
      .command("plan")
      .description("show what applying manifests would change, without changing it")
      .option("-f, --filename <path...>", "files and folders of the complete set of manifests; - is standard input"),
  )
    .option(DETAILED_EXIT_CODE, "exit with 0 for no changes, 2 for changes, 1 for any fault")
    .addOption(
      new Option("--fail-on <what>", "what exits with 1; blocked includes what newly cannot become as declared")
        .choices(["refused", "blocked"])
        .default("refused"),
    )
    .addOption(new Option("-o, --output <format>", "the output format").choices(Object.keys(OUTPUTS)).default("text"))
    .example("keyplane plan -f manifests --data .keyplane", "what saving these files would change in keyplane up")
    .example("keyplane plan -f manifests --kubeconfig ~/.kube/config", "what kubectl apply would change in a cluster")
    .example(
      "keyplane plan -f manifests --base ../main/manifests -o markdown",
      "what a pull request changes, as a comment",
    )
    .example("keyplane plan -f manifests --data .keyplane --detailed-exitcode", "for a script: exit with 2 for changes")
    .example(
      "keyplane plan -f manifests --base ../main/manifests --fail-on blocked",
      "for CI: exit with 1 for a key that gets no version",
    )
    .action(async (flags) => {
      const { filename: paths = [], ...others } = flags;
      const task = { ...others, paths, hasColours: terminal?.hasColours };
      exit(await progress.during("comparing", () => runPlan(task, env, out, Date.now())));
    });
};

export type PlanFlags = ComparedFlags & {
  readonly paths: readonly string[];
  readonly detailedExitcode?: boolean | undefined;
  /**
   * Condition for exit code 1. With `blocked`, anything that newly cannot become as declared counts too.
   */
  readonly failOn?: "refused" | "blocked" | undefined;
  readonly output?: Output | undefined;
  /** True if lines are to be coloured. */
  readonly hasColours?: boolean | undefined;
};

/**
 * Runs `keyplane plan`: shows what applying these manifests would do, by the same decisions as the controller's.
 *
 * @param now milliseconds since the epoch
 * @returns the exit code: 1 if something is refused, or blocked with `failOn: "blocked"`; 2 for a change with
 *   `detailedExitcode`
 * @throws UsageError for paths that do not exist, and if it is not clear what to compare with
 */
export async function runPlan(
  { paths, detailedExitcode = false, failOn = "refused", output = "text", hasColours = false, ...against }: PlanFlags,
  env: Environment,
  out: (line: string) => void,
  now: number,
): Promise<number> {
  if (paths.length === 0) throw new UsageError("nothing to plan: name a folder of manifests with --filename");
  const compared = await openCompared(env, against, now);
  const plan = await makePlan({ ...compared, paths, stdin: await readStdin(paths), now });
  out(OUTPUTS[output](plan, hasColours));
  const { refused, blocked } = countPlan(plan);
  if (refused > 0 || (failOn === "blocked" && blocked > 0)) return 1;
  return detailedExitcode && hasChanges(plan) ? 2 : 0;
}
