/** The last lines of `npm test`: what else there is to run. */
import { PROJECT_NAMES, PROJECTS } from "./projects.ts";

console.log("\nMore tests, of what npm alone does not bring (docs/testing.md):");
for (const { command, needs } of PROJECT_NAMES.filter((name) => name !== "npm").map((name) => PROJECTS[name])) {
  console.log(`  ${command.padEnd(22)} ${needs}`);
}
