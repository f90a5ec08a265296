import { renderSecretData } from "../../domain/key/secret/secret-template.ts";
import { type Html, html } from "../pages/html.ts";
import { layout } from "../pages/layout.ts";

/**
 * Renders what runs here and where, for people who open the server's address. It shows nothing that the API's public
 * description does not.
 *
 * @param base URL at which clients reach this server, without a slash at its end
 */
export function landingPage(base: string): Html {
  return layout({
    title: "Keys of an AI platform",
    viewer: null,
    content: html`<div class="stack">
<div class="hero"><h1>Keys of an AI platform</h1>
<p class="lead">Keyplane runs here. It lets the holders of its API keys use a memory, over REST and MCP, and the models behind its gateways.</p>
<p class="actions"><a class="button primary" href="/dashboard/keys">Open the console</a><a class="button" href="/docs">API reference</a></p></div>
<div class="columns">
<section class="panel" aria-labelledby="first-call"><h2 id="first-call">The first call</h2>
<p>Make a key in the <a href="/dashboard/keys/new">console</a>, or declare one in a manifest. Have a shell read it, which keeps it out of its history, and call the memory with it:</p>
${example("read-key", "read -rs KEYPLANE_API_KEY && export KEYPLANE_API_KEY")}
${example("curl", curl(base))}
<p>For an MCP client that reads variables of its environment; for any other, write the key itself:</p>
${example("mcp", mcpConfig(base))}
</section>
<section class="panel" aria-labelledby="endpoints"><h2 id="endpoints">Endpoints</h2>
<dl class="facts lines">${endpoints(base).map(
      ({ name, url, note }) =>
        html`<dt>${name}</dt><dd><code>${url}</code> <span class="hint line">${note}</span></dd>`,
    )}</dl>
</section>
</div>
</div>`,
  });
}

/** Renders a text to paste, with a button that copies it. */
function example(id: string, text: string): Html {
  return html`<div class="paste"><pre tabindex="0"><code id="${id}">${text}</code></pre><button type="button" data-copy="${id}">Copy</button></div>`;
}

/**
 * Returns a call for a shell. The header comes from a file descriptor: a key in an argument would be in the list of
 * processes.
 */
function curl(base: string): string {
  return `curl -H @<(printf 'Authorization: Bearer %s' "$KEYPLANE_API_KEY") \\\n  '${base}/atoms'`;
}

function mcpConfig(publicUrl: string): string {
  const secret = { template: "McpConfig", dataKey: "api-key" } as const;
  const endpoints = { publicUrl, gatewayPublicId: null };
  return renderSecretData(KEY_VARIABLE, { scopes: ["memory:read"], secret }, endpoints)["mcp.json"] ?? "";
}

/** Placeholder of the key, as clients write a variable of their environment. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills it in
const KEY_VARIABLE = "${KEYPLANE_API_KEY}";

type Endpoint = { readonly name: string; readonly url: string; readonly note: string };

function endpoints(base: string): Endpoint[] {
  const gateway = `${base}/g/{publicId}`;
  return [
    { name: "Memory, REST", url: `${base}/atoms`, note: "Also under /api/v1/memory." },
    { name: "Memory, MCP", url: `${base}/api/v1/memory/mcp`, note: "Streamable HTTP, without sessions." },
    { name: "Gateway, OpenAI", url: `${gateway}/v1`, note: "The base URL of the openai SDK." },
    {
      name: "Gateway, Gemini and Anthropic",
      url: gateway,
      note: "The base URL of @google/genai and @anthropic-ai/sdk.",
    },
    {
      name: "Management API",
      url: `${base}/api/v1`,
      note: "With a token of an issuer or of the installation; no API key opens it.",
    },
    { name: "Console", url: `${base}/dashboard/keys`, note: "For people, who sign in." },
    { name: "Description", url: `${base}/openapi.json`, note: "All of the API, as OpenAPI 3.1." },
    {
      name: "Health and metrics",
      url: "/healthz, /readyz, /metrics",
      note: "On the admin listener, which is not this address; /readyz is here too, for load balancers.",
    },
  ];
}
