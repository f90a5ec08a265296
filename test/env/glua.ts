import { findGoProgram } from "./go/go-program.ts";

/** The path of the interpreter of Lua that is in Argo CD, as {@link findGoProgram} finds it. */
export function findGlua(): Promise<string> {
  return findGoProgram({
    name: "glua",
    variable: "GLUA_BIN",
    module: "lua",
    package: "github.com/yuin/gopher-lua/cmd/glua",
  });
}
