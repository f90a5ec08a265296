import { CLUSTER_MISTAKES } from "../test/mistakes/cluster.rows.ts";
import { MANIFEST_MISTAKES } from "../test/mistakes/manifests.rows.ts";
import { SDK_MISTAKES } from "../test/mistakes/sdks.rows.ts";
import { markdownTable } from "./markdown-table.ts";

const HEAD = `<!-- Generated from test/mistakes/ by scripts/generate.ts. -->
# Common mistakes, and what Keyplane says

What was done, where the answer is read, and the whole of it. Each row is a test, which makes the mistake and compares the message word for word.`;

/** The reference page of common mistakes and their messages, in Markdown. */
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

/** The command that shows the condition and the event of an object, or the one that is refused. */
function readFrom(object: string | undefined): string {
  return object === undefined ? "kubectl apply" : `kubectl describe ${object}`;
}

type Mistake = { readonly done: string; readonly readFrom: string; readonly says: string };

function section(heading: string, mistakes: readonly Mistake[]): string[] {
  const rows = mistakes.map(({ done, readFrom, says }) => [done, code(readFrom), linesOf(says).map(code).join("<br>")]);
  return ["", `## ${heading}`, "", ...markdownTable(["what was done", "read from", "what it says"], rows)];
}

const linesOf = (text: string) => text.trim().split("\n");

/** As code in a line of Markdown, whatever is in it. */
const code = (text: string) => (text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``);
