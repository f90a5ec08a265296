import { flag, type Html, html } from "../../../pages/html.ts";
import type { KeyFields } from "./key-fields.ts";
import { chosenField, type FormErrors, textField } from "./key-form.ts";

const LIMITS = ["networks", "requestsPerMinute", "burst", "tokensPerMinute", "concurrent"] as const;
const RATE_SCOPES = {
  none: "",
  offered: [
    { value: "Replica", title: "On each replica by itself" },
    { value: "Installation", title: "Over all replicas together" },
  ],
  isMore: false,
};

/**
 * Renders the fields for a key's networks and limits, folded in unless a field has a value or a fault, as most keys
 * have no limits.
 */
export function limitDetails(fields: KeyFields, errors: FormErrors): Html {
  const { networks, requestsPerMinute, burst, tokensPerMinute, rateScope, concurrent } = fields;
  const isOpen = LIMITS.some((name) => fields[name] !== "" || errors.fields.has(name));
  return html`<details ${flag("open", isOpen)}><summary>Limits</summary><div class="stack">${textField("networks", networks, errors, "Where the key may be used from, such as 203.0.113.0/24, 2001:db8::/32. Left empty, from anywhere.")}
${textField("requestsPerMinute", requestsPerMinute, errors, "Left empty, they are not limited.")}
${textField("burst", burst, errors, "Left empty, a minute's worth.")}
${textField("tokensPerMinute", tokensPerMinute, errors, "Of calls of models. Left empty, they are not limited.")}
${chosenField("rateScope", rateScope, RATE_SCOPES, errors)}
${textField("concurrent", concurrent, errors, "At the same time, answers that stream included. Left empty, 256.")}</div></details>`;
}
