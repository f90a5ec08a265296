import type { CompletedCommand } from "./completed-commands.ts";

export function powershellCompletion(commands: readonly CompletedCommand[]): string {
  const entries = commands.map(({ name, flags, words, takesArguments }) => {
    const all = flags.flatMap(({ names }) => names);
    const values = flags.flatMap((flag) =>
      flag.values === null ? [] : flag.names.map((flagName) => `${quoted(flagName)} = ${list(flag.values ?? [])}`),
    );
    const others = takesArguments ? words : all;
    return `    ${quoted(name)} = @{ flags = ${list(all)}; words = ${list(others)}; values = @{ ${values.join("; ")} } }`;
  });
  return `# PowerShell completion of keyplane: keyplane completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName keyplane -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $commands = @{
${entries.join("\n")}
  }
  $before = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
    Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  $name = $before | Where-Object { $_ -notlike '-*' } | Select-Object -First 1
  if (-not $name) {
    $offers = ${list(commands.map(({ name }) => name))}
  } elseif ($commands.ContainsKey($name)) {
    $command = $commands[$name]
    if ($command.values.ContainsKey($before[-1])) { $offers = $command.values[$before[-1]] }
    elseif ($wordToComplete -like '-*') { $offers = $command.flags }
    else { $offers = $command.words }
  }
  # Without a word of ours PowerShell completes files.
  $offers | Where-Object { $_ -like "$wordToComplete*" } |
    ForEach-Object { [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }
}`;
}

function list(words: readonly string[] | "files"): string {
  return words === "files" ? "@()" : `@(${words.map(quoted).join(", ")})`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
