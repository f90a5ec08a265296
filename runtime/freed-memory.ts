/** Bytes of freed memory that glibc is to keep at the end of each of its heaps. */
const TRIM_THRESHOLD = String(2 ** 20);

/** Path of a file that a parent process has opened for this one, as in `<(command)` of a shell. */
const OPEN_FILE = /\/fd\/\d/;

/**
 * Starts the program of this process once more, in its place and with its id, so that glibc returns freed memory to the
 * system. By default glibc keeps ever more of it, up to 64 MB in each heap, and what V8's compilers used stays resident
 * (docs/performance.md). It reads the setting as a process starts, and never again.
 *
 * Does nothing on other systems, if the environment has the setting, or if the parent process has given this one a
 * channel or an open file, which would be lost. Call it before anything is opened.
 */
export function returnFreedMemory(
  process: Pick<NodeJS.Process, "argv" | "connected" | "env" | "execArgv" | "execPath" | "execve" | "platform">,
): void {
  const { argv, env, execArgv, execPath } = process;
  if (process.platform !== "linux" || process.connected || env.MALLOC_TRIM_THRESHOLD_ !== undefined) return;
  if ([...argv, ...Object.values(env)].some((value) => OPEN_FILE.test(value ?? ""))) return;
  process.execve?.(execPath, [execPath, ...execArgv, ...argv.slice(1)], {
    ...env,
    MALLOC_TRIM_THRESHOLD_: TRIM_THRESHOLD,
  });
}
