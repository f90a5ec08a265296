import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { hasCode } from "../../runtime/error-code.ts";

/** A pipe as a shell's `|` makes it, that is read when the test says so. POSIX alone. */
export function makePipe() {
  const folder = mkdtempSync(join(tmpdir(), "keyplane-pipe-"));
  const file = join(folder, "pipe");
  execFileSync("mkfifo", [file]);
  const reader = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(file, constants.O_WRONLY);
  const open = new Set([reader, writer]);
  const close = (fd: number) => {
    if (open.delete(fd)) closeSync(fd);
  };
  onTestFinished(() => {
    for (const fd of open) close(fd);
    rmSync(folder, { recursive: true });
  });
  return {
    /** What a process is given as its standard output. */
    writer,
    /** Writes until the pipe takes no more: how many bytes that were. */
    fill(): number {
      const filler = openSync(file, constants.O_WRONLY | constants.O_NONBLOCK);
      let bytes = 0;
      try {
        for (;;) bytes += writeSync(filler, "\n");
      } catch (error) {
        if (!hasCode(error, "EAGAIN")) throw error;
        return bytes;
      } finally {
        closeSync(filler);
      }
    },
    /** Reads up to so many bytes; nothing where nothing is in it. */
    take(bytes: number): string {
      const piece = Buffer.alloc(bytes);
      try {
        return piece.toString("latin1", 0, readSync(reader, piece));
      } catch (error) {
        if (hasCode(error, "EAGAIN")) return "";
        throw error;
      }
    },
    /** Reads to the end, once no process has the pipe any more. */
    read(): Promise<string> {
      close(writer);
      open.delete(reader);
      return text(new Socket({ fd: reader, writable: false }));
    },
    /** Ends the reader, as `head` does that has enough. */
    closeReader: () => close(reader),
  };
}
