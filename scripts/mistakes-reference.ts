import { CLUSTER_MISTAKES } from "../test/mistakes/cluster.rows.ts";
import { MANIFEST_MISTAKES } from "../test/mistakes/manifests.rows.ts";
import { SDK_MISTAKES } from "../test/mistakes/sdks.rows.ts";
import { markdownTable } from "./markdown-table.ts";

const HEAD = `<!-- Generated from test/mistakes/ by scripts/generate.ts. -->
# Common mistakes and their messages

A test compares each message word for word. \`...\` stands for a repeated list of the paths that a gateway serves.`;

/** Returns the reference page of common mistakes and their messages, in Markdown. */
export function renderMistakes(): string {
  const cluster = CLUSTER_MISTAKES.map(({ done, object, says }) => ({ done, readFrom: readFrom(object), says }));
  return [
    HEAD,
    ...section(
      "In manifests",
      MANIFEST_MISTAKES.map(({ done, command, says }) => ({ done, readFrom: command, says })),
    ),
    ...section(
      "With an SDK",
      SDK_MISTAKES.map(({ done, client, says }) => ({ done, readFrom: client, says })),
    ),
    ...section("In a cluster", cluster),
    "",
  ].join("\n");
}

/** Returns the command that shows the condition and the event of an object, or the command that is refused. */
function readFrom(object: string | undefined): string {
  return object === undefined ? "kubectl apply" : `kubectl describe ${object}`;
}

type Mistake = { readonly done: string; readonly readFrom: string; readonly says: string };

/** End of each message of a wrong path. */
const SERVED = /(?<=This gateway serves )POST v1\/.*?Under v1beta it serves the paths of models too\./g;

function section(heading: string, mistakes: readonly Mistake[]): string[] {
  const sources = new Set(mistakes.map(({ readFrom }) => readFrom));
  const [source] = sources;
  const isOne = sources.size === 1 && source !== undefined;
  const groups = [...Map.groupBy(mistakes, ({ readFrom, says }) => `${readFrom}\n${says}`).values()];
  let isServedShown = false;
  const rows = groups.flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const { readFrom, says } = first;
    const shown = isServedShown ? says.replaceAll(SERVED, "...") : says;
    isServedShown ||= says.search(SERVED) >= 0;
    const done = [first, ...others].map((mistake) => mistake.done).join(" Or: ");
    const message = linesOf(shown).map(code).join("<br>");
    return [isOne ? [done, message] : [done, code(readFrom), message]];
  });
  const from = isOne ? ["", `The messages are those of ${code(source)}.`] : [];
  const head = isOne ? ["mistake", "message"] : ["mistake", "seen in", "message"];
  return ["", `## ${heading}`, ...from, "", ...markdownTable(head, rows)];
}

const linesOf = (text: string) => text.trim().split("\n");

/** Returns a text as code in a line of Markdown, whatever is in it. */
const code = (text: string) => (text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``);
