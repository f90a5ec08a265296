/** Judgement of the first request to a proxy, without a key: does it ask the verifier, and is its word passed on? */
import { connectionAdvice } from "../../../domain/connection-advice.ts";
import { connectionErrorText } from "../../../domain/error-text.ts";
import { sanitizeUntrusted } from "../../../domain/redact.ts";
import { type Finding, wrong } from "../finding.ts";
import { mistaken } from "./findings.ts";
import type { Outcome } from "./judge.ts";
import type { RecipeProxy } from "./mistakes.ts";

/** Longest text of an answer that is repeated, in characters. */
const MAX_REPEATED = 300;

type Asked = {
  readonly url: string;
  readonly proxy: RecipeProxy | undefined;
  /** Value of the answer's header `Location`; undefined if there is no answer. */
  readonly location: string | undefined;
};

/** Returns what is wrong; undefined if the answer is the verifier's 401. */
export function judgeFirst({ heard, arrived = [] }: Outcome, { url, proxy, location }: Asked): Finding | undefined {
  const found = (mistake: Parameters<typeof mistaken>[0], what: string) => mistaken(mistake, what, proxy);
  const other = arrived.find(({ target }) => target !== new URL(url).pathname);
  if (arrived.length > 1 && other !== undefined)
    return found("question", `the service is sent ${other.target} in place of the verifier`);
  if (arrived.length > 0) return found("unprotected", `${url} reaches the service without a key`);
  if (heard.is === "nothing") {
    const message = `no answer from ${url} (${connectionErrorText(heard.error)})`;
    return wrong("proxy-connection", message, connectionAdvice(heard.error, "see that the proxy runs, and the URL"));
  }
  const { status } = heard;
  if (heard.is === "success") return found("unprotected", `${url} is answered with ${status} without a key`);
  if (heard.is === "refusal") {
    const said = `${status}: ${sanitizeUntrusted(heard.detail, MAX_REPEATED)}`;
    if (heard.code === "unauthorized") return undefined;
    if (heard.detail.startsWith("The proxy does not show the verifier")) {
      return found("dialect", `the verifier cannot tell what it is asked about (${said})`);
    }
    if (heard.detail.startsWith("What asks is not known"))
      return found("token", `the verifier does not know the proxy (${said})`);
    if (heard.detail.startsWith("Proxies ask at"))
      return found("path", `the proxy asks at no path of the verifier (${said})`);
    return found("added", `the verifier refuses each request of this proxy (${said})`);
  }
  if (status >= 500) return found("unasked", `the proxy has no word of the verifier (it answers with ${status})`);
  if (status >= 300 && status <= 399) {
    const to = location !== undefined && URL.canParse(location, url) ? new URL(location, url) : undefined;
    const shown = to === undefined ? "nowhere" : sanitizeUntrusted(to.origin + to.pathname, MAX_REPEATED);
    const step = "give the URL that it leads to";
    return wrong("proxy-connection", `${url} redirects to ${shown}`, step);
  }
  if (status === 401) return found("answers", "the verifier's 401 reaches callers without its text");
  if (status === 403 && proxy === "nginx" && !heard.hasBody) {
    return found("dialect", "the verifier refuses what it is not shown, or is shown as another proxy shows it");
  }
  if (status === 403) {
    const step =
      "at Envoy that is `status_on_error` left out, and a verifier that is not reached; at nginx `error_page 401 403 500 = @keyplane;` left out, and a path at the verifier that is not /authz/nginx/..., or a token that it does not take";
    return wrong("proxy-verifier", "the proxy refuses with 403, without the verifier's text", step);
  }
  const step = "give the URL of a GET that the proxy protects; if it is one, the proxy lets it through without a key";
  return wrong("proxy-connection", `${url} is answered with ${status}, not by the verifier`, step);
}
