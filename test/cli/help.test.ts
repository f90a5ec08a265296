import type { Option } from "commander";
import { describe, expect, test } from "vitest";
import { type CliCommand, SettingOption } from "../../cli/command/cli-command.ts";
import { CONTROLLER_SETTINGS } from "../../controller/config.ts";
import { flagOf } from "../../runtime/settings.ts";
import { SERVER_SETTINGS } from "../../server/context/settings.ts";
import { filesBelow, read } from "../architecture/sources.ts";
import { CALL, makeProgram, wordsOf } from "./command-line.ts";
import { keyplane } from "./up.ts";

const MAX_COLUMNS = 100;

/** Those that do something, by what one types for them. */
function commandsBelow(command: CliCommand, typed: readonly string[] = []): [string, CliCommand][] {
  if (command.commands.length === 0) return [[typed.join(" "), command]];
  return command.commands.flatMap((inner) => commandsBelow(inner as CliCommand, [...typed, inner.name()]));
}

/** Has the commands do nothing but be parsed; the one that would have run is noted. */
function listenOnly(program: CliCommand): string[] {
  const ran: string[] = [];
  for (const [typed, command] of commandsBelow(program)) command.action(() => void ran.push(typed));
  return ran;
}

const commands = commandsBelow(await makeProgram());
/** Takes command lines one after the other, and notes which command would have run. */
const listening = await makeProgram();
const ran = listenOnly(listening);

describe.each(commands)("help of keyplane %s", (typed, command) => {
  test("has examples, which are command lines that it takes", async () => {
    expect(command.examples.length).toBeGreaterThan(0);
    for (const { line } of command.examples) {
      await listening.parseAsync(wordsOf(line), { from: "user" });
      expect(ran.splice(0), line).toEqual([typed]);
    }
  });

  test("names the variable of each flag that has one, and fits a terminal", async () => {
    const { code, out } = await keyplane([...typed.split(" "), "--help"]);
    expect(code).toBe(0);
    const missing = command.options.filter(
      (option) => option instanceof SettingOption && !out.includes(option.variable),
    );
    expect(missing).toEqual([]);
    for (const { name } of command.variables) expect(out).toContain(`  ${name}  `);
    expect(out).toMatch(/^Examples:\n( {2}# .+\n {2}.+\n)+$/m);
    expect(out.split("\n").filter((line) => line.length > MAX_COLUMNS)).toEqual([]);
  });
});

test("flags that are read as variables too are those that help says it of", () => {
  const sources = filesBelow("cli", ".ts").map(read);
  const inTables = Object.keys({ ...SERVER_SETTINGS, ...CONTROLLER_SETTINGS }).map(flagOf);
  const isRead = (name: string) =>
    inTables.includes(name) || sources.some((text) => new RegExp(`(setting|required)\\(\\w+, "${name}"`).test(text));
  const flags = commands.flatMap(([, { options }]) => options as Option[]);
  const wrong = flags.filter((option) => isRead(option.name()) !== option instanceof SettingOption);
  expect([...new Set(wrong.map(({ flags }) => flags))]).toEqual([]);
});

/** They run until they are stopped: all their flags may come from a manifest or a unit file. */
const SERVICES = ["up", "server", "controller"];
/** Where something is, though by a name. */
const PLACES = ["--context", "--controller-namespace", "--controller-account"];

test("a flag has a variable where it says how a service runs or where something is, and nowhere else", () => {
  const all = commands.flatMap(([typed, { options }]) => options.map((option) => ({ typed, option })));
  const ofServices = new Set(all.flatMap(({ typed, option }) => (SERVICES.includes(typed) ? [option.long] : [])));
  const isPlace = ({ flags, long }: Option) => /<(dir|file|url)s?>/.test(flags) || PLACES.includes(long ?? "");
  const wrong = all.filter(
    ({ option }) => option instanceof SettingOption !== (ofServices.has(option.long) || isPlace(option)),
  );
  expect(wrong.map(({ typed, option }) => `${typed} ${option.flags}`)).toEqual([]);
});

test("what is printed as JSON is printed as YAML too", () => {
  const outputs = commands.flatMap(([typed, { options }]) =>
    options.filter(({ long }) => long === "--output").map(({ argChoices = [] }) => ({ typed, argChoices })),
  );
  expect(outputs.length).toBeGreaterThan(5);
  const wrong = outputs.filter(({ argChoices }) => !["json", "yaml"].every((format) => argChoices.includes(format)));
  expect(wrong).toEqual([]);
});

/** They run until they are stopped, or print what is for one kind of program already. */
const WITHOUT_OUTPUT = ["up", "server", "controller", "completion", "memory-export"];

test("whatever a command shows, it prints as JSON and YAML with -o", () => {
  const without = commands.filter(
    ([, { options }]) => !options.some(({ short, long }) => short === "-o" && long === "--output"),
  );
  expect(without.map(([typed]) => typed).sort()).toEqual(WITHOUT_OUTPUT.toSorted());
});

describe("keyplane", () => {
  test("without a command is wrong use, and shows the commands in their groups", async () => {
    const { code, out, err } = await keyplane([]);
    expect([code, out]).toEqual([2, ""]);
    const headings = [...err.matchAll(/^(\w.*):$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(["Options", "Run", "Manifests", "Inspect", "Memory", "Administer", "Other"]);
  });

  test("help COMMAND shows what COMMAND --help does", async () => {
    const [help, flag] = [await keyplane(["help", "rotate"]), await keyplane(["rotate", "--help"])];
    expect(help).toEqual(flag);
    expect(help.code).toBe(0);
    expect((await keyplane(["help", "rotat"])).code).toBe(2);
  });
});

test("the pages show no command that the program does not take", async () => {
  const below = ["docs", "examples", "infra"].flatMap((folder) => filesBelow(folder, ".md"));
  const lines = ["README.md", ...below].flatMap((page) =>
    [...read(page).matchAll(/^ *```(\w*)\n([\s\S]*?)^ *```/gm)].flatMap(([, language = "", block = ""]) =>
      (["", "sh"].includes(language) ? block : "")
        .replaceAll("npm run --silent keyplane --", "keyplane")
        .split("\n")
        .map((line) => line.replace(/ +# .*$/, ""))
        // More than one space behind it is a table's, which another program prints of what it calls keyplane.
        .filter((line) => CALL.test(line)),
    ),
  );
  expect(lines.length).toBeGreaterThan(20);
  const refused: string[] = [];
  for (const line of lines) {
    const program = await makeProgram();
    listenOnly(program);
    await program.parseAsync(wordsOf(line), { from: "user" }).catch(() => refused.push(line));
  }
  expect(refused).toEqual([]);
});
