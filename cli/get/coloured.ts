import { styleText } from "node:util";
import type { Paint } from "../output/table.ts";

/** Shows at a glance what is ready and what is not. */
export const coloured: Paint = (cell, heading) => {
  if (heading !== "READY") return cell;
  const status = cell.trimEnd();
  const colour = status === "True" ? "green" : status === "False" ? "red" : "yellow";
  return `${styleText(colour, status, { validateStream: false })}${cell.slice(status.length)}`;
};
