/**
 * A guide as one script: what a reader saves and what a reader runs, from its top to its end. A comment `# 401` at the
 * end of a call is the status that the page promises, which may take as long as a change takes to hold.
 */

const SAVED = /Save as `([\w./~-]+\.\w+)`[^\n]*:\n\n```\w+\n([\s\S]*?)```/g;
const RUN = /```sh\n([\s\S]*?)```/g;
const PROMISED = /^(\S.*?) +# (\d{3})$/;

/** `promise STATUS COMMAND`: every curl of it prints the status of its answer, in place of the answer. */
const PRELUDE = `set -euo pipefail
promise() {
  local status=
  for _ in {1..300}; do
    status=$(curl() { command curl -sS -o /dev/null -w '%{http_code}' "$@"; }; eval "$2") || true
    if [ "$status" = "$1" ]; then return; fi
    sleep 0.2
  done
  echo "$status instead of $1: $2"
  return 1
}
`;

/** What a page has below one of its headings, and above the next. */
export function sectionOf(page: string, heading: string): string {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`there is no heading "${heading}"`);
  return section;
}

/** The lines that a page shows as what its commands print: those in blocks of no language. */
export function printedBy(page: string): string[] {
  return [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].flatMap(([, language, text = ""]) =>
    language === "" ? text.trimEnd().split("\n") : [],
  );
}

/**
 * @param page its Markdown
 * @param manifests where manifests that are saved go; other files go where they are said to be
 */
export function scriptOf(page: string, manifests: string): string {
  const saves = [...page.matchAll(SAVED)].map(({ index, 1: file = "", 2: text }) => {
    const path = file.endsWith(".yaml") ? `${manifests}/${file}` : file.replace(/^~/, "$HOME");
    const save = `mkdir -p "$(dirname "${path}")"\ncat > "${path}" <<'END OF ${file}'\n`;
    return { index, text: `${save}${text}END OF ${file}\n` };
  });
  const runs = [...page.matchAll(RUN)].map(({ index, 1: text = "" }) => ({ index, text: withPromises(text) }));
  const steps = [...saves, ...runs].sort((one, other) => one.index - other.index);
  return PRELUDE + steps.map(({ text }) => text).join("");
}

function withPromises(commands: string): string {
  const quoted = (command: string) => `'${command.replaceAll("'", `'\\''`)}'`;
  return commands
    .split("\n")
    .map((line) => {
      const [, command, status] = PROMISED.exec(line) ?? [];
      return command === undefined ? line : `promise ${status} ${quoted(command)}`;
    })
    .join("\n");
}
