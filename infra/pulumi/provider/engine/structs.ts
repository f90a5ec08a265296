/** Converts properties into the form of the protocol's messages. */

import { readValues, type Values, writeValues } from "../values.ts";
import { Struct } from "./protocol.ts";

export function structOf(values: Values) {
  // What is written is JSON, of which JavaScript's type for it is a part.
  return Struct.fromJavaScript(writeValues(values) as Parameters<typeof Struct.fromJavaScript>[0]);
}

export function valuesOf(struct: { toJavaScript(): unknown } | undefined): Values {
  return readValues(struct?.toJavaScript());
}
