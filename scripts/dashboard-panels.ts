/** Panels of the Grafana dashboard, which scripts/dashboard.ts draws. */

/** Heading, and the panels below it, from left to right. */
export type Section = { readonly title: string; readonly panels: readonly Panel[] };

export type Panel = {
  readonly title: string;
  readonly description: string;
  /** Unit, by Grafana's name for it. */
  readonly unit: string;
  /** Queries in PromQL, by their names in the legend. */
  readonly queries: Readonly<Record<string, string>>;
  /** Colour of a panel that is one number, and its colour from 1 on if that differs. */
  readonly number?: { readonly colour: string; readonly from1?: string };
  /** Set if values below 0 are shown too. */
  readonly isSigned?: true;
};

/** Returns the quantiles of a histogram of seconds. */
const quantiles = (buckets: string) => ({
  p50: quantile(0.5, buckets),
  p95: quantile(0.95, buckets),
  p99: quantile(0.99, buckets),
});

const quantile = (q: number, buckets: string) =>
  `histogram_quantile(${q}, sum by (le) (rate(${buckets}[$__rate_interval])))`;

/** Condition for the series of Keyplane's own processes. */
const OURS =
  'and on (instance) (keyplane_index_current{namespace="$namespace"} or leader_election_master_status{namespace="$namespace",name="keyplane"})';

export const SECTIONS: readonly Section[] = [
  {
    title: "At a glance",
    panels: [
      {
        title: "Servers that serve",
        description: "Servers that can prove that they know of every revocation.",
        unit: "none",
        number: { colour: "red", from1: "green" },
        queries: { "": 'sum(keyplane_index_current{namespace="$namespace"})' },
      },
      {
        title: "Leading controllers",
        description: "One, or one for each set of namespaces.",
        unit: "none",
        number: { colour: "red", from1: "green" },
        queries: { "": 'sum(leader_election_master_status{namespace="$namespace",name="keyplane"})' },
      },
      {
        title: "Keys that are Ready",
        description: "Declared keys that are as declared.",
        unit: "none",
        number: { colour: "blue" },
        queries: {
          "": 'sum(max by (reason) (keyplane_object_conditions{namespace="$namespace",kind="PlatformKey",type="Ready",status="True"})) or vector(0)',
        },
      },
      {
        title: "Stalled declarations",
        description: "They wait for a person.",
        unit: "none",
        number: { colour: "green", from1: "orange" },
        queries: {
          "": 'sum(max by (kind, reason) (keyplane_object_conditions{namespace="$namespace",type="Stalled",status="True"})) or vector(0)',
        },
      },
      {
        title: "Leaked keys that work",
        description: "Reported as leaked, and not ended.",
        unit: "none",
        number: { colour: "green", from1: "red" },
        queries: {
          "": 'max(keyplane_object_conditions{namespace="$namespace",kind="PlatformKey",type="Leaked",status="True"}) or vector(0)',
        },
      },
      {
        title: "Keys that end within a week",
        description: "With no rotation before.",
        unit: "none",
        number: { colour: "green", from1: "orange" },
        queries: { "": 'max(keyplane_keys_expiring{namespace="$namespace"})' },
      },
    ],
  },
  {
    title: "Requests",
    panels: [
      {
        title: "Requests by status",
        description: "Answered requests each second.",
        unit: "reqps",
        queries: {
          "{{status}}": 'sum by (status) (rate(keyplane_requests_total{namespace="$namespace"}[$__rate_interval]))',
        },
      },
      {
        title: "Requests by operation",
        description: "Those that were let through to an operation; none: refused before.",
        unit: "reqps",
        queries: {
          "{{operation}}":
            'sum by (operation) (rate(keyplane_requests_total{namespace="$namespace"}[$__rate_interval]))',
        },
      },
      {
        title: "Latency",
        description: "From a request's head to the end of its answer.",
        unit: "s",
        queries: quantiles('keyplane_request_duration_seconds_bucket{namespace="$namespace",operation=~"$operation"}'),
      },
      {
        title: "Refusals by cause",
        description: "The cause, which no answer names.",
        unit: "reqps",
        queries: {
          "{{cause}}": 'sum by (cause) (rate(keyplane_refusals_total{namespace="$namespace"}[$__rate_interval]))',
        },
      },
      {
        title: "Keys with the most requests",
        description: "By the key's id.",
        unit: "reqps",
        queries: {
          "{{key_id}}":
            'topk(10, sum by (key_id) (rate(keyplane_key_requests_total{namespace="$namespace"}[$__rate_interval])))',
        },
      },
      {
        title: "Calls under way",
        description: "With what they keep of bodies, and those without room.",
        unit: "short",
        queries: {
          open: 'sum(keyplane_open_calls{namespace="$namespace"})',
          "wait on their connection": 'sum(keyplane_pipelined_requests_waiting{namespace="$namespace"})',
          "without room, {{of}} a second":
            'sum by (of) (rate(keyplane_calls_without_room_total{namespace="$namespace"}[$__rate_interval]))',
          "answers without room, {{outcome}} a second":
            'sum by (outcome) (rate(keyplane_answers_without_room_total{namespace="$namespace"}[$__rate_interval]))',
        },
      },
      {
        title: "Calls to model providers",
        description: "Each on a connection of its own.",
        unit: "short",
        queries: {
          "under way": 'sum(keyplane_upstream_calls{namespace="$namespace"})',
          waiting: 'sum(keyplane_upstream_calls_queued{namespace="$namespace"})',
          "upstreams left out": 'sum(keyplane_upstreams_left_out{namespace="$namespace"})',
          "retries a second": 'sum(rate(keyplane_upstream_retries_total{namespace="$namespace"}[$__rate_interval]))',
          "refused a second":
            'sum(rate(keyplane_upstream_calls_refused_total{namespace="$namespace"}[$__rate_interval]))',
          "credential refused a second":
            'sum(rate(keyplane_upstream_credentials_refused_total{namespace="$namespace"}[$__rate_interval]))',
        },
      },
      {
        title: "Tokens",
        description: "As models' answers report them; the kinds do not overlap.",
        unit: "short",
        queries: {
          "{{kind}} a second": 'sum by (kind) (rate(keyplane_tokens_total{namespace="$namespace"}[$__rate_interval]))',
        },
      },
      {
        title: "Models' answers",
        description: "By whether they reported what their calls used.",
        unit: "reqps",
        queries: {
          "{{usage}}": 'sum by (usage) (rate(keyplane_model_answers_total{namespace="$namespace"}[$__rate_interval]))',
        },
      },
      {
        title: "Bodies and answers that are kept",
        description: "Of requests until their calls have ended, and of answers until they have left.",
        unit: "bytes",
        queries: {
          "{{instance}}": 'sum by (instance) (keyplane_kept_body_bytes{namespace="$namespace"})',
          "{{instance}}, answers": 'sum by (instance) (keyplane_held_answer_bytes{namespace="$namespace"})',
        },
      },
      {
        title: "Streams that were cut",
        description: "Because their key stopped being usable.",
        unit: "ops",
        queries: { cut: 'sum(rate(keyplane_streams_cut_total{namespace="$namespace"}[$__rate_interval]))' },
      },
    ],
  },
  {
    title: "Changes reach the servers",
    panels: [
      {
        title: "Lease age",
        description:
          "Since a server last had proof that it is current. When that is as long as its lease, 5 s unless --lease says otherwise, it answers 503.",
        unit: "s",
        queries: {
          "{{instance}}": 'keyplane_index_age_seconds{namespace="$namespace"}',
          lease: 'max(keyplane_index_lease_seconds{namespace="$namespace"})',
        },
      },
      {
        title: "Feed lag",
        description: "Changes that a server has not applied and another has.",
        unit: "short",
        queries: {
          "{{instance}}":
            'scalar(max(keyplane_index_seq{namespace="$namespace"})) - keyplane_index_seq{namespace="$namespace"}',
        },
      },
      {
        title: "Confirmation time",
        description: "How long a changed key waits until every server decides by the change.",
        unit: "s",
        queries: quantiles('keyplane_confirmation_seconds_bucket{namespace="$namespace"}'),
      },
      {
        title: "Database",
        description: "Rounds of following the feed that failed, and times that it was rolled back.",
        unit: "ops",
        queries: {
          "failures, {{instance}}":
            'sum by (instance) (rate(keyplane_index_feed_failures_total{namespace="$namespace"}[$__rate_interval]))',
          "rolled back":
            'sum(increase(keyplane_index_database_rollbacks_total{namespace="$namespace"}[$__rate_interval]))',
        },
      },
      {
        title: "Queue of notifications",
        description: "How full it is: at a half changes are seen late.",
        unit: "percentunit",
        queries: { full: 'max(keyplane_database_notification_queue_ratio{namespace="$namespace"})' },
      },
      {
        title: "Key index",
        description: "Versions of keys, and the memory that they take.",
        unit: "short",
        queries: {
          versions: 'max(keyplane_index_keys{namespace="$namespace"})',
          gateways: 'max(keyplane_index_gateways{namespace="$namespace"})',
          "gateways whose credential cannot be read": 'max(keyplane_index_unreadable_gateways{namespace="$namespace"})',
          "bytes for each version":
            'max(keyplane_index_key_bytes{namespace="$namespace"}) / max(keyplane_index_keys{namespace="$namespace"})',
        },
      },
    ],
  },
  {
    title: "Declarations",
    panels: [
      {
        title: "Keys by state",
        description: "What condition Ready says.",
        unit: "short",
        queries: {
          "{{reason}} ({{status}})":
            'max by (status, reason) (keyplane_object_conditions{namespace="$namespace",kind="PlatformKey",type="Ready"})',
        },
      },
      {
        title: "Teams, gateways and libraries by state",
        description: "What condition Ready says.",
        unit: "short",
        queries: {
          "{{kind}} {{reason}} ({{status}})":
            'max by (kind, status, reason) (keyplane_object_conditions{namespace="$namespace",kind!="PlatformKey",type="Ready"})',
        },
      },
      {
        title: "Under way",
        description: "Rotations, late consumers and leaks.",
        unit: "short",
        queries: {
          "{{type}} {{reason}}":
            'max by (type, reason) (keyplane_object_conditions{namespace="$namespace",type=~"Rotating|StaleConsumers|Leaked|Reconciling",status="True"})',
        },
      },
    ],
  },
  {
    title: "Controllers",
    panels: [
      {
        title: "Leader",
        description: "1 while it leads.",
        unit: "none",
        queries: { "{{instance}}": 'leader_election_master_status{namespace="$namespace",name="keyplane"}' },
      },
      {
        title: "Reconciliations",
        description: "Each second, by result.",
        unit: "ops",
        queries: {
          "{{result}}":
            'sum by (result) (rate(controller_runtime_reconcile_total{namespace="$namespace",controller="keyplane"}[$__rate_interval]))',
          failed:
            'sum(rate(controller_runtime_reconcile_errors_total{namespace="$namespace",controller="keyplane"}[$__rate_interval]))',
        },
      },
      {
        title: "Reconciliation time",
        description: "With waiting for other things.",
        unit: "s",
        queries: quantiles(
          'controller_runtime_reconcile_time_seconds_bucket{namespace="$namespace",controller="keyplane"}',
        ),
      },
      {
        title: "Work queue",
        description: "Names that wait, are worked on, and are tried again.",
        unit: "short",
        queries: {
          waiting: 'max(workqueue_depth{namespace="$namespace",name="keyplane"})',
          "worked on": 'max(controller_runtime_active_workers{namespace="$namespace",controller="keyplane"})',
          "retries a second":
            'sum(rate(workqueue_retries_total{namespace="$namespace",name="keyplane"}[$__rate_interval]))',
        },
      },
      {
        title: "API server",
        description: "Requests to it each second, by code; and since when a watch has been quiet.",
        unit: "reqps",
        queries: {
          "{{code}}": 'sum by (code) (rate(rest_client_requests_total{namespace="$namespace"}[$__rate_interval]))',
        },
      },
      {
        title: "Watches",
        description: "Since one last heard of the API server; and kinds whose garbage collection is paused.",
        unit: "s",
        queries: {
          "{{watch}}": 'max by (watch) (keyplane_watch_age_seconds{namespace="$namespace"})',
          "{{kind}} is paused": 'max by (kind) (keyplane_garbage_collection_paused{namespace="$namespace"})',
        },
      },
    ],
  },
  {
    title: "Deliveries and reports",
    panels: [
      {
        title: "Webhooks",
        description: "Deliveries each second, by outcome.",
        unit: "ops",
        queries: {
          "{{outcome}}":
            'sum by (outcome) (rate(keyplane_webhook_deliveries_total{namespace="$namespace"}[$__rate_interval]))',
        },
      },
      {
        title: "Leaks",
        description: "Secrets that were reported, by outcome.",
        unit: "short",
        queries: {
          "{{reporter}}: {{outcome}}":
            'sum by (reporter, outcome) (increase(keyplane_leaks_reported_total{namespace="$namespace"}[$__rate_interval]))',
        },
      },
      {
        title: "Refusals that the audit log lacks",
        description:
          "Sampled: beyond what a process keeps; limited: beyond what the installation writes; unwritten: the database did not take them.",
        unit: "ops",
        queries: {
          "{{reason}}":
            'sum by (reason) (rate(keyplane_audit_events_lost_total{namespace="$namespace"}[$__rate_interval]))',
        },
      },
      {
        title: "Embedded atoms",
        description: "Atoms each second that were sent to be embedded, by outcome.",
        unit: "ops",
        queries: {
          "{{outcome}}":
            'sum by (outcome) (rate(keyplane_embedded_atoms_total{namespace="$namespace"}[$__rate_interval]))',
        },
      },
      {
        title: "Passages of conversations",
        description: "Passages each second that a model was to take atoms out of, by outcome.",
        unit: "ops",
        queries: {
          "{{outcome}}":
            'sum by (outcome) (rate(keyplane_read_passages_total{namespace="$namespace"}[$__rate_interval]))',
        },
      },
    ],
  },
  {
    title: "Processes",
    panels: [
      {
        title: "Event loop",
        description: "The 99th percentile of how late its turns come.",
        unit: "s",
        queries: { "{{instance}}": `nodejs_eventloop_lag_p99_seconds{namespace="$namespace"} ${OURS}` },
      },
      {
        title: "Memory",
        description: "Resident.",
        unit: "bytes",
        queries: { "{{instance}}": `process_resident_memory_bytes{namespace="$namespace"} ${OURS}` },
      },
      {
        title: "CPU",
        description: "Cores.",
        unit: "short",
        queries: {
          "{{instance}}": `rate(process_cpu_seconds_total{namespace="$namespace"}[$__rate_interval]) ${OURS}`,
        },
      },
      {
        title: "Certificate",
        description: "For how long the certificate that servers show is valid, where they speak TLS themselves.",
        unit: "s",
        isSigned: true,
        queries: {
          "{{instance}}":
            'min by (instance) (keyplane_tls_certificate_expiry_timestamp_seconds{namespace="$namespace"}) - time()',
        },
      },
      {
        title: "Dropped lines of the log",
        description: "Lines each second that standard output did not take.",
        unit: "ops",
        queries: {
          "{{instance}}": 'rate(keyplane_log_lines_dropped_total{namespace="$namespace"}[$__rate_interval])',
        },
      },
      {
        title: "Spans of traces",
        description: "Spans each second that were sent to the collector, by whether it took them.",
        unit: "ops",
        queries: {
          "{{outcome}}":
            'sum by (outcome) (rate(keyplane_trace_spans_total{namespace="$namespace"}[$__rate_interval]))',
        },
      },
    ],
  },
];
