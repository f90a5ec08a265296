import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Report } from "../../oracle/report.ts";
import type { Calls } from "./calls.ts";

/**
 * Keeps what shows whose fault a violation is: the story, what each pod has logged, and the calls that failed. Not among
 * the temporary files, which go with the namespaces.
 *
 * @returns the folder
 */
export async function keepEvidence(
  report: Report,
  logs: ReadonlyMap<string, readonly string[]>,
  { failed }: Calls,
): Promise<string> {
  const folder = await mkdtemp("/tmp/keyplane-installation-");
  const keep = (name: string, lines: readonly string[]) => writeFile(join(folder, name), `${lines.join("\n")}\n`);
  await keep("story.log", report.story);
  await keep(
    "failed-calls.jsonl",
    failed.map((call) => JSON.stringify(call)),
  );
  for (const [pod, lines] of logs) await keep(`${pod}.log`, lines);
  return folder;
}
