import { expect, test } from "vitest";
import { describeError, errorLines } from "../../../cli/output/describe-error.ts";

test("b79: what a command says of an error, and of what the system refused, shows no key", () => {
  const refused = Object.assign(new Error("EACCES: permission denied, open '/keys/inf_0123456789abcdef'"), {
    code: "EACCES",
  });
  const said = describeError(new Error("while reading inf_0123456789abcdef", { cause: refused }));
  expect(said).toBe(
    "while reading inf_...: EACCES: permission denied, open '/keys/inf_...: this user may not do that: see who owns it, or choose another folder with --data",
  );
});

test("a port that this user may not have names the flags that choose another", () => {
  const refused = { code: "EACCES", syscall: "listen" };
  const error = Object.assign(new Error("listen EACCES: permission denied 127.0.0.1:80"), refused);
  expect(errorLines(error)).toEqual([
    "keyplane: listen EACCES: permission denied 127.0.0.1:80: this user may not listen there: choose a --port and --admin-port of 1024 or more",
  ]);
});
