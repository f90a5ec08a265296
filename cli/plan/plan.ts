import { Option } from "commander";
import type { Environment } from "../../domain/environment.ts";
import { KINDS } from "../../domain/manifest/kinds.ts";
import { writeYaml } from "../../domain/manifest/write-yaml.ts";
import type { AddCommand } from "../command.ts";
import { setting } from "../config.ts";
import { isRunning } from "../data-folder.ts";
import { openManagement } from "../management-client.ts";
import { readStdin } from "../manifest-files.ts";
import { readStatusFiles } from "../status-files.ts";
import { UsageError } from "../usage-error.ts";
import { readBase } from "./base.ts";
import { type Held, makePlan, type Plan } from "./make-plan.ts";
import { planMarkdown } from "./plan-markdown.ts";
import { hasChanges, planDocument, planLines, summarize } from "./plan-output.ts";

type Output = "text" | "json" | "yaml" | "markdown";

/** What each format makes of a plan: nothing of a credential is in any. */
const OUTPUTS: Readonly<Record<Output, (plan: Plan) => string>> = {
  text: (plan) => [...planLines(plan), summarize(plan)].join("\n"),
  json: (plan) => JSON.stringify(planDocument(plan), null, 2),
  yaml: (plan) => writeYaml(planDocument(plan)).trimEnd(),
  markdown: planMarkdown,
};

/** The flag by which 2 says that something would change, so that whatever goes wrong is 1. */
export const DETAILED_EXIT_CODE = "--detailed-exitcode";

export const addPlan: AddCommand = (program, { env, out, exit }) => {
  program
    .command("plan")
    .description("show what applying manifests would do to the keys, without doing it")
    .option("-f, --filename <path...>", "files and folders: all that shall be declared; - is standard input")
    .setting("--data <dir>", "compare with this data folder of keyplane up; without it everything is new")
    .option("--base <path>", "compare with these manifests instead, as if they had been applied")
    .option(DETAILED_EXIT_CODE, "exit with 0 where nothing would change, 2 where something would, 1 for any fault")
    .addOption(new Option("-o, --output <format>", "as what to show it").choices(Object.keys(OUTPUTS)).default("text"))
    .example("keyplane plan -f manifests --data .keyplane", "what saving these would do to what runs there")
    .example(
      "keyplane plan -f manifests --base ../main/manifests -o markdown",
      "what a pull request changes, as a comment",
    )
    .example(
      "keyplane plan -f manifests --data .keyplane --detailed-exitcode",
      "for a script: 2 where something would change",
    )
    .action(async (flags) => {
      exit(await runPlan({ ...flags, paths: flags.filename ?? [] }, env, out, Date.now()));
    });
};

export type PlanFlags = {
  readonly paths: readonly string[];
  readonly data?: string | undefined;
  readonly base?: string | undefined;
  readonly detailedExitcode?: boolean | undefined;
  readonly output?: Output | undefined;
};

/**
 * `keyplane plan`: what applying these manifests would do, by the same decisions as the controller's.
 *
 * @param now milliseconds since the epoch
 * @returns the exit code: 1 where something is refused
 * @throws UsageError for paths that lead nowhere, and where it is not clear what to compare with
 */
export async function runPlan(
  { paths, detailedExitcode = false, output = "text", ...against }: PlanFlags,
  env: Environment,
  out: (line: string) => void,
  now: number,
): Promise<number> {
  if (paths.length === 0) throw new UsageError("nothing to plan: name a folder of manifests with -f");
  const { base } = against;
  if (base !== undefined && against.data !== undefined) {
    throw new UsageError("--data and --base are two things to compare with: give one of them");
  }
  const data = base === undefined ? setting(env, "data", against.data) : undefined;
  const plan = await makePlan({
    paths,
    stdin: await readStdin(paths),
    held: base !== undefined ? readBase(base, now) : data !== undefined ? await readHeld(data) : [],
    data,
    lastUsedAt: await lastUses(env, data),
    now,
  });
  out(OUTPUTS[output](plan));
  if (plan.refused.length > 0) return 1;
  return detailedExitcode && hasChanges(plan) ? 2 : 0;
}

/** Everything that `up` holds; what was never admitted, or is on its way out, counts as not there. */
async function readHeld(data: string): Promise<Held[]> {
  const kinds = KINDS.map(async (kind) => (await readStatusFiles(data, kind)).map((object) => ({ ...object, kind })));
  const objects: Held[] = (await Promise.all(kinds)).flat();
  return objects.filter(({ metadata, spec }) => spec !== undefined && metadata.deletionTimestamp === undefined);
}

/** When each key was last used, by its id; of none where `up` does not run. */
async function lastUses(
  env: Environment,
  data: string | undefined,
): Promise<(id: string) => number | null | undefined> {
  if (data === undefined || !(await isRunning(data))) return () => undefined;
  const keys = await openManagement(env, { data }).then((client) => client.listKeys());
  const uses = new Map(keys.map(({ id, lastUsedAt }) => [id, lastUsedAt === null ? null : Date.parse(lastUsedAt)]));
  return (id) => uses.get(id);
}
