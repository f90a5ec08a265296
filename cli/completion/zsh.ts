import type { CompletedCommand } from "./completed-commands.ts";

export function zshCompletion(commands: readonly CompletedCommand[]): string {
  const values = commands.flatMap(({ name, flags }) =>
    flags.flatMap((flag) => {
      if (flag.values === null) return [];
      const patterns = flag.names.map((flagName) => `"${name} ${flagName}"`).join("|");
      const offer = flag.values === "files" ? "_files" : `compadd -- ${flag.values.join(" ")}`;
      return [`    (${patterns}) ${offer}; return ;;`];
    }),
  );
  const own = commands.map(({ name, flags, words, takesArguments }) => {
    const offers = flags.flatMap((flag) => flag.names.map((flagName) => described(flagName, flag.description)));
    const others = takesArguments
      ? words === "files"
        ? "_files; return"
        : `compadd -- ${words.join(" ")}; return`
      : "";
    const flagsOf = `offers=(${offers.join(" ")})`;
    return `    (${name}) ${others === "" ? flagsOf : `if [[ $cur != -* ]]; then ${others}; fi; ${flagsOf}`} ;;`;
  });
  return `#compdef keyplane
# zsh completion of keyplane: source <(keyplane completion zsh)
_keyplane() {
  local cur=\${words[CURRENT]} prev=\${words[CURRENT-1]} command= word
  local -a offers
  if [[ $cur == --*=* ]]; then prev=\${cur%%=*}; compset -P '*='; fi
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ $word != -* ]]; then command=$word; break; fi
  done
  case "$command $prev" in
${values.join("\n")}
  esac
  case "$command" in
    ("") offers=(${commands.map(({ name, description }) => described(name, description)).join(" ")}) ;;
${own.join("\n")}
  esac
  _describe keyplane offers
}
if [[ $funcstack[1] == _keyplane ]]; then _keyplane "$@"; else compdef _keyplane keyplane; fi`;
}

function described(word: string, description: string): string {
  return `'${word}:${description.replaceAll("'", "'\\''")}'`;
}
