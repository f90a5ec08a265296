import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { RARE_COLLECTION } from "../go/go-program.ts";

/** A program that runs until it is stopped, and never longer than this process. */
export type Program = {
  readonly pid: number;
  /** Rejects, with the end of its log, when it ends before `stop()`. Never resolves. */
  readonly died: Promise<never>;
  /** Ends it as a crash does, and leaves its folder for another start. */
  kill(): Promise<void>;
  stop(): Promise<void>;
};

/**
 * Runs a program until standard input ends, be it by `stop()` or because we are gone, however that came: then kills it
 * and removes the folder, since there may be no process left to do it. Says the program's pid first. The mark is not made by
 * `:`, with which a shell ends, and kills no process, where another program's end has removed the folder already.
 */
const UNTIL_INPUT_ENDS = `
folder=$1; log=$2; shift 2
exec 3<&0
"$@" </dev/null >>"$log" 2>&1 3<&- & program=$!
echo $program; exec >&- 2>&-
{ read -r _ <&3; true >"$log.over"; kill -9 $program; } & watch=$!
wait $program; code=$?
kill $watch
[ -e "$log.over" ] && rm -rf "$folder"
exit $code
`;

/** Starts a program that logs to `<name>.log` in the folder. */
export async function startProgram(
  folder: string,
  name: string,
  path: string,
  args: readonly string[],
): Promise<Program> {
  const log = join(folder, `${name}.log`);
  // In a group of its own, so that an interrupt at the terminal reaches it through the end of its input alone.
  const shell = spawn("sh", ["-c", UNTIL_INPUT_ENDS, "sh", folder, log, path, ...args], {
    stdio: ["pipe", "pipe", "ignore"],
    detached: true,
    env: { ...process.env, ...RARE_COLLECTION },
  });
  let stopping = false;
  const closed = once(shell, "close");
  const died = closed.then(async () => {
    if (stopping) return await new Promise<never>(() => {});
    const lines = (await readFile(log, "utf8")).trimEnd().split("\n").slice(-5);
    throw new Error(`${name} has ended:\n${lines.join("\n")}`);
  });
  died.catch(() => {});
  shell.stdin.on("error", () => {});
  const [pid] = await Promise.race([once(shell.stdout, "data"), died]);
  return {
    pid: Number(String(pid)),
    died,
    async kill() {
      stopping = true;
      process.kill(Number(String(pid)), "SIGKILL");
      await closed;
    },
    async stop() {
      stopping = true;
      shell.stdin.end();
      await closed;
    },
  };
}
