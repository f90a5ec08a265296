/** Reading of a proxy's answer: the verifier's refusal in any of its formats, or another program's answer. */
import { isRecord } from "../../../domain/manifest/document/identity.ts";
import { parseJson } from "../../../domain/parse-json.ts";
import { PROBLEMS, type ProblemCode } from "../../../server/http/problems/catalogue.ts";

/** Answer of a proxy, as far as it is read. */
export type ProxyAnswer = {
  readonly status: number;
  /** Value of its header `Server`; empty if it has none. */
  readonly server: string;
  /** Value of its header `Via`; empty if it has none. */
  readonly via: string;
  /** Value of its header `Location`; empty if it has none. */
  readonly location: string;
  readonly body: string;
};

export type Heard =
  /** The verifier refuses, and its caller reads why. */
  | {
      readonly is: "refusal";
      readonly status: number;
      readonly code: ProblemCode;
      readonly detail: string;
      readonly protects: "gateway" | "scope";
    }
  | { readonly is: "success"; readonly status: number; readonly body: string }
  /** An answer that is not the verifier's: the proxy's own, or one of the service behind it. */
  | { readonly is: "other"; readonly status: number; readonly hasBody: boolean }
  | { readonly is: "nothing"; readonly error: Error };

/** Reads an answer. A 5xx counts as none of the verifier's, since proxies make one in its place. */
export function hear(answer: ProxyAnswer | Error): Heard {
  if (answer instanceof Error) return { is: "nothing", error: answer };
  const { status, body } = answer;
  if (status >= 200 && status <= 299) return { is: "success", status, body };
  const said = status < 500 ? refusalIn(parseJson(body)) : undefined;
  if (said !== undefined && PROBLEMS[said.code].status === status) return { is: "refusal", status, ...said };
  return { is: "other", status, hasBody: body.trim() !== "" };
}

/** Finds the verifier's code and text in a problem document, or in an error of one of the gateway's formats. */
function refusalIn(document: unknown) {
  if (!isRecord(document)) return undefined;
  const { type, code, detail, error } = document;
  if (typeof type === "string" && type === `urn:keyplane:problem:${code}`) {
    return coded(code, typeof detail === "string" ? detail : "", "scope");
  }
  if (!isRecord(error) || typeof error.message !== "string") return undefined;
  if (typeof error.code === "string") return coded(error.code, error.message, "gateway");
  const [, inText, text = ""] = /^([a-z_]+): (.*)$/s.exec(error.message) ?? [];
  return coded(inText, text, "gateway");
}

function coded(code: unknown, detail: string, protects: "gateway" | "scope") {
  return typeof code === "string" && isCode(code) ? { code, detail, protects } : undefined;
}

function isCode(text: string): text is ProblemCode {
  return Object.hasOwn(PROBLEMS, text);
}
