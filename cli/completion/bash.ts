import type { CompletedCommand, CompletedFlag } from "./completed-commands.ts";

/** Returns the completion script, which works with bash 3.2, the version in macOS. */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  const values = commands.flatMap(({ name, flags }) => {
    const patterns = (wanted: readonly CompletedFlag[]) =>
      wanted.flatMap(({ names }) => names.map((flag) => `"${name} ${flag}"`)).join(" | ");
    const isChoice = ({ values }: CompletedFlag) => Array.isArray(values) && values.length > 0;
    const others = flags.filter((flag) => flag.values !== null && !isChoice(flag));
    return [
      ...flags
        .filter(isChoice)
        .map((flag) => `    ${patterns([flag])}) words="${[...(flag.values ?? [])].join(" ")}" ;;`),
      ...(others.length === 0 ? [] : [`    ${patterns(others)}) ;;`]),
    ];
  });
  const own = commands.map(({ name, flags, words, takesArguments }) => {
    const all = flags.flatMap(({ names }) => names).join(" ");
    const others = takesArguments ? (words === "files" ? "" : words.join(" ")) : all;
    return `        ${name}) flags="${all}" words="${others}" ;;`;
  });
  return `# bash completion of keyplane: source <(keyplane completion bash)
_keyplane() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} command= words= flags= i
  COMPREPLY=()
  # bash takes --flag=value for three words.
  if [[ $cur == "=" ]]; then cur=; elif [[ $prev == "=" ]]; then prev=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ \${COMP_WORDS[i]} != -* ]]; then command=\${COMP_WORDS[i]}; break; fi
  done
  case "$command $prev" in
${values.join("\n")}
    *)
      case "$command" in
        "") flags="--help --version" words="${commands.map(({ name }) => name).join(" ")}" ;;
${own.join("\n")}
      esac
      if [[ $cur == -* ]]; then words=$flags; fi
      ;;
  esac
  # Without a word of ours bash completes files.
  if [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); fi
}
complete -o bashdefault -o default -F _keyplane keyplane`;
}
