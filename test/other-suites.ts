/** The last lines of `npm test`: what else there is to run. */
import { PROJECT_NAMES, PROJECTS } from "./projects.ts";

const suites = [
  ...PROJECT_NAMES.filter((name) => name !== "npm" && name !== "night").map((name) => PROJECTS[name]),
  { command: "npm run test:postgres15", needs: "a network, to fetch PostgreSQL 15" },
  PROJECTS.night,
];
console.log("\nMore tests, and what they take besides npm (docs/testing.md):");
for (const { command, needs } of suites) console.log(`  ${command.padEnd(24)} ${needs}`);
