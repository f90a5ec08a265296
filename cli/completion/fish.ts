import type { CompletedCommand, CompletedFlag } from "./completed-commands.ts";

export function fishCompletion(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(({ name, description, flags, words }) => {
    const within = `complete -c keyplane -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c keyplane -n __fish_use_subcommand -a ${name} -d ${quoted(description)}`,
      ...(words === "files" ? [`${within} -F`] : words.length === 0 ? [] : [`${within} -a ${quoted(words.join(" "))}`]),
      ...flags.map((flag) => `${within} ${flagOf(flag)} -d ${quoted(flag.description)}`),
    ];
  });
  return ["# fish completion of keyplane: keyplane completion fish | source", "complete -c keyplane -f", ...lines].join(
    "\n",
  );
}

function flagOf({ names, values }: CompletedFlag): string {
  const named = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(" ");
  if (values === null) return named;
  if (values === "files") return `${named} -r -F`;
  return values.length === 0 ? `${named} -x` : `${named} -x -a ${quoted(values.join(" "))}`;
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
