import { secretData } from "../../secret-data.ts";
import type { Complaint } from "../document/diagnostic.ts";
import { utf8Text } from "../document/file-text.ts";
import { isRecord } from "../document/identity.ts";
import { suggestion } from "../document/suggestion.ts";

const FIELDS = ["apiVersion", "kind", "metadata", "type", "immutable", "data", "stringData"];
const DATA_KEY = /^([-_a-zA-Z0-9]|\.[-_a-zA-Z0-9])[-._a-zA-Z0-9]{0,252}$/;
/** Base64 with its padding, as Go requires it; line breaks are removed before. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Warning: a Secret may have a key store beside what Keyplane takes of it. */
const BINARY = "is no text in UTF-8, and is left out: encode the text as UTF-8 and then in base64";

/**
 * Parses a core Secret as the API server does: `data` in base64; `stringData` in clear, which takes precedence. No
 * message
 * reveals anything of a value.
 */
export function readSecretData(manifest: Readonly<Record<string, unknown>>): {
  data: Readonly<Record<string, string>>;
  complaints: Complaint[];
} {
  const complaints: Complaint[] = [];
  const data: [dataKey: string, value: string][] = [];
  for (const field of Object.keys(manifest)) {
    if (!FIELDS.includes(field)) {
      complaints.push({ path: [field], of: "key", message: `unknown field: ${suggestion(field, FIELDS)}` });
    }
  }
  for (const field of ["data", "stringData"] as const) {
    const entries = manifest[field] ?? {};
    if (!isRecord(entries)) {
      complaints.push({ path: [field], message: "must be a mapping of data keys to text" });
      continue;
    }
    for (const [key, value] of Object.entries(entries)) {
      const message = faultOf(field, key, value);
      if (message !== undefined) {
        complaints.push({ path: [field, key], of: "key", message });
        continue;
      }
      const text = field === "data" ? utf8Text(Buffer.from(String(value), "base64")) : String(value);
      if (text !== undefined) data.push([key, text]);
      else complaints.push({ path: [field, key], of: "key", severity: "warning", message: BINARY });
    }
  }
  return { data: secretData(data), complaints };
}

function faultOf(field: "data" | "stringData", key: string, value: unknown): string | undefined {
  if (!DATA_KEY.test(key)) return "is no data key of a Secret: use letters, digits, -, _ and .";
  if (typeof value !== "string") return "must be text: write the value in quotes";
  if (field === "data" && !BASE64.test(value.replace(/[\r\n]/g, ""))) {
    return "is not base64: encode it, or put it under stringData in clear";
  }
  return undefined;
}
