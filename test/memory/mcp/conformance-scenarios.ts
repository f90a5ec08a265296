/**
 * The scenarios of the protocol's own conformance suite, `@modelcontextprotocol/conformance`: each is run, or stands here
 * with the reason why it does not apply. A part of a scenario that is run is named `scenario:check`.
 */

/** Those that call tools of their own by name call those that a test lends the server. */
export const RUN: readonly string[] = [
  "server-initialize",
  "server-session-lifecycle",
  "server-stateless",
  "ping",
  "tools-list",
  "tools-call-simple-text",
  "tools-call-error",
  "json-schema-2020-12",
  "server-sse-multiple-streams",
  "dns-rebinding-protection",
  "caching",
  "http-header-validation",
];

/** By reason. */
export const INAPPLICABLE: Readonly<Record<string, readonly string[]>> = {
  "there are no resources": [
    "resources-list",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "resources-subscribe",
    "resources-unsubscribe",
    "sep-2164-resource-not-found",
    "caching:sep-2549-resources-list-caching-hints",
    "caching:sep-2549-resources-read-caching-hints",
    "caching:sep-2549-resources-templates-list-caching-hints",
  ],
  "there are no prompts": [
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
    "caching:sep-2549-prompts-list-caching-hints",
    "server-stateless:sep-2575-server-sends-prompts-list-changed-on-subscription",
  ],
  "there is nothing to complete: no prompts, no templates of resources": ["completion-complete"],
  "every tool answers by text and structured content": [
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
  ],
  "no log is sent to clients": [
    "logging-set-level",
    "tools-call-with-logging",
    "server-stateless:sep-2575-server-no-log-without-loglevel",
  ],
  "no tool takes long enough to report its progress": ["tools-call-with-progress"],
  "no tool asks its client for anything: not to sample, not to elicit, not for its roots": [
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "server-stateless:sep-2575-server-rejects-undeclared-capability",
    "server-stateless:sep-2575-missing-capability-http-400",
    "server-stateless:sep-2575-http-server-no-independent-requests-on-stream",
    "input-required-result-basic-elicitation",
    "input-required-result-basic-sampling",
    "input-required-result-basic-list-roots",
    "input-required-result-request-state",
    "input-required-result-multiple-input-requests",
    "input-required-result-multi-round",
    "input-required-result-missing-input-response",
    "input-required-result-non-tool-request",
    "input-required-result-result-type",
    "input-required-result-unsupported-methods",
    "input-required-result-tampered-state",
    "input-required-result-capability-check",
    "input-required-result-ignore-extra-params",
    "input-required-result-validate-input",
  ],
  "no argument of a tool is mirrored in a header": ["http-custom-header-server-validation"],
  "nothing outlives a request: there are no sessions, no stream is resumed, and no list announces that it has changed":
    [
      "server-sse-polling",
      "server-sse-multiple-streams:server-sse-multiple-streams-session",
      "server-stateless:sep-2575-server-sends-tools-list-changed-on-subscription",
    ],
  "the extension for skills is not offered": [
    "sep-2640-skills-directory",
    "sep-2640-skills-enumeration",
    "sep-2640-skills-manifest",
  ],
  "the extension for tasks is not offered": [
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-dispatch-and-envelope",
    "tasks-status-notifications",
    "tasks-required-task-error",
    "tasks-mrtr-composition",
  ],
};
