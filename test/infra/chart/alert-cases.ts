/** Series as promtool reads them: what they are, and their values minute by minute. */
export type Series = Readonly<Record<string, string>>;

/** For an hour and a half. */
const constant = (value: number) => `${value}x90`;
const growing = (perMinute: number) => `0+${perMinute}x90`;

/** Two processes of one installation. */
const A = 'instance="a:8081",namespace="keyplane-system"';
const B = 'instance="b:8081",namespace="keyplane-system"';
const LEADER = `leader_election_master_status{name="keyplane",${A}}`;
const requests = (status: string, operation = "atoms.list") =>
  `keyplane_requests_total{operation="${operation}",status="${status}",${A}}`;
const answeredWithin = (le: string, operation = "atoms.search") =>
  `keyplane_request_duration_seconds_bucket{operation="${operation}",le="${le}",${A}}`;
const condition = (type: string, reason: string, kind = "PlatformKey", status = "True") =>
  `keyplane_object_conditions{kind="${kind}",type="${type}",status="${status}",reason="${reason}",${A}}`;
const reconciled = (result: string) =>
  `controller_runtime_reconcile_total{controller="keyplane",result="${result}",${A}}`;
const confirmedWithin = (le: string) => `keyplane_confirmation_seconds_bucket{le="${le}",${A}}`;
const indexOf = (figures: { readonly age: number; readonly lease: number; readonly current: number }): Series => ({
  [`keyplane_index_age_seconds{${A}}`]: constant(figures.age),
  [`keyplane_index_lease_seconds{${A}}`]: constant(figures.lease),
  [`keyplane_index_current{${A}}`]: constant(figures.current),
});

/** Of each alert, series that fire it and some that are near to that and must not. */
export const ALERT_CASES: Readonly<
  Record<string, { readonly fires: readonly Series[]; readonly quiet: readonly Series[] }>
> = {
  KeyplaneNotServing: {
    fires: [{}, { [`keyplane_index_current{${A}}`]: constant(0), [`keyplane_index_current{${B}}`]: constant(0) }],
    quiet: [{ [`keyplane_index_current{${A}}`]: constant(0), [`keyplane_index_current{${B}}`]: constant(1) }],
  },
  KeyplaneServerNotCurrent: {
    fires: [{ [`keyplane_index_current{${A}}`]: constant(0), [`keyplane_index_current{${B}}`]: constant(1) }],
    quiet: [{ [`keyplane_index_current{${A}}`]: "1 0x1 1x87 0" }],
  },
  KeyplaneProcessDown: {
    fires: [{ [`up{job="keyplane",${A}}`]: constant(0), [`up{job="keyplane",${B}}`]: constant(1) }],
    quiet: [{ [`up{job="keyplane",${A}}`]: "1x80 0x2 1x8", 'up{job="other",instance="c:9090"}': constant(0) }],
  },
  KeyplaneProcessRestarting: {
    fires: [{ [`process_start_time_seconds{job="keyplane",${A}}`]: "100x65 200x7 300x7 400x8" }],
    quiet: [
      {
        [`process_start_time_seconds{job="keyplane",${A}}`]: "100x70 200x20",
        [`process_start_time_seconds{job="keyplane",${B}}`]: "100x75 200x15",
      },
    ],
  },
  KeyplaneCertificateExpiring: {
    // The hour and a half of the cases is that after the epoch.
    fires: [
      { [`keyplane_tls_certificate_expiry_timestamp_seconds{${A}}`]: constant(600_000) },
      { [`keyplane_tls_certificate_expiry_timestamp_seconds{${A}}`]: constant(0) },
    ],
    quiet: [{ [`keyplane_tls_certificate_expiry_timestamp_seconds{${A}}`]: constant(620_000) }],
  },
  KeyplaneFeedLagging: {
    fires: [indexOf({ age: 4, lease: 5, current: 1 }), indexOf({ age: 40, lease: 60, current: 1 })],
    quiet: [
      indexOf({ age: 1.5, lease: 5, current: 1 }),
      indexOf({ age: 14, lease: 60, current: 1 }),
      // Another alert reports this.
      indexOf({ age: 60, lease: 5, current: 0 }),
    ],
  },
  KeyplaneDatabaseErrors: {
    fires: [{ [`keyplane_index_feed_failures_total{${A}}`]: growing(10) }],
    quiet: [{ [`keyplane_index_feed_failures_total{${A}}`]: constant(400) }],
  },
  KeyplaneDatabaseRolledBack: {
    fires: [{ [`keyplane_index_database_rollbacks_total{${A}}`]: "0x80 1x10" }],
    quiet: [{ [`keyplane_index_database_rollbacks_total{${A}}`]: constant(1) }],
  },
  KeyplaneNotificationQueueFilling: {
    fires: [{ [`keyplane_database_notification_queue_ratio{${A}}`]: constant(0.3) }],
    quiet: [{ [`keyplane_database_notification_queue_ratio{${A}}`]: constant(0.1) }],
  },
  KeyplaneServerErrors: {
    fires: [
      { [requests("200")]: growing(90), [requests("503", "none")]: growing(10) },
      { [requests("200")]: growing(90), [requests("500")]: growing(10) },
    ],
    quiet: [
      { [requests("200")]: growing(990), [requests("500")]: growing(10) },
      { [requests("200")]: growing(10), [requests("502", "gateway.embeddings")]: growing(90) },
    ],
  },
  KeyplaneSlow: {
    fires: [
      {
        [answeredWithin("1")]: growing(90),
        [answeredWithin("2.5")]: growing(100),
        [answeredWithin("+Inf")]: growing(100),
      },
    ],
    quiet: [
      {
        [answeredWithin("1")]: growing(100),
        [answeredWithin("2.5")]: growing(100),
        [answeredWithin("+Inf")]: growing(100),
      },
      {
        [answeredWithin("1", "gateway.chat_completions")]: growing(1),
        [answeredWithin("+Inf", "gateway.chat_completions")]: growing(100),
      },
    ],
  },
  KeyplaneRefusalsHigh: {
    fires: [
      { [requests("401", "none")]: growing(120), [`keyplane_refusals_total{cause="revoked",${A}}`]: growing(90) },
    ],
    quiet: [
      { [requests("200")]: growing(120), [`keyplane_refusals_total{cause="revoked",${A}}`]: growing(40) },
      { [requests("401", "none")]: growing(2), [`keyplane_refusals_total{cause="revoked",${A}}`]: growing(2) },
    ],
  },
  KeyplaneCredentialsUnreadable: {
    fires: [
      {
        [`keyplane_index_unreadable_gateways{${A}}`]: constant(0),
        [`keyplane_index_unreadable_gateways{${B}}`]: constant(1),
      },
    ],
    quiet: [{ [`keyplane_index_unreadable_gateways{${A}}`]: constant(0) }],
  },
  KeyplaneUpstreamSaturated: {
    fires: [{ [`keyplane_upstream_calls_refused_total{${A}}`]: growing(1) }],
    quiet: [{ [`keyplane_upstream_calls_refused_total{${A}}`]: constant(7) }],
  },
  KeyplaneUpstreamCredentialRefused: {
    fires: [{ [`keyplane_upstream_credentials_refused_total{${A}}`]: growing(1) }],
    quiet: [{ [`keyplane_upstream_credentials_refused_total{${A}}`]: constant(7) }],
  },
  KeyplaneBodiesWithoutRoom: {
    fires: [{ [`keyplane_calls_without_room_total{of="bodies",${A}}`]: growing(1) }],
    quiet: [{ [`keyplane_calls_without_room_total{of="calls",${A}}`]: growing(1) }],
  },
  KeyplaneEventLoopDelayed: {
    fires: [
      { [`nodejs_eventloop_lag_p99_seconds{${A}}`]: constant(0.8), [`keyplane_index_current{${A}}`]: constant(1) },
      { [`nodejs_eventloop_lag_p99_seconds{${A}}`]: constant(0.8), [LEADER]: constant(0) },
    ],
    // Another program's, and ours at rest.
    quiet: [
      { 'nodejs_eventloop_lag_p99_seconds{instance="c:9090"}': constant(0.8), [LEADER]: constant(0) },
      { [`nodejs_eventloop_lag_p99_seconds{${A}}`]: constant(0.02), [LEADER]: constant(0) },
    ],
  },
  KeyplaneWebhooksFailing: {
    fires: [{ [`keyplane_webhook_deliveries_total{outcome="failed",${A}}`]: "0x80 1x10" }],
    quiet: [{ [`keyplane_webhook_deliveries_total{outcome="retried",${A}}`]: growing(1) }],
  },
  KeyplaneAuditEventsLost: {
    fires: [{ [`keyplane_audit_events_lost_total{reason="unwritten",${A}}`]: growing(1) }],
    quiet: [{ [`keyplane_audit_events_lost_total{reason="sampled",${A}}`]: growing(100) }],
  },
  KeyplaneLeakReported: {
    fires: [{ [`keyplane_leaks_reported_total{reporter="github",outcome="alerted",${A}}`]: "0x80 1x10" }],
    quiet: [{ [`keyplane_leaks_reported_total{reporter="github",outcome="revoked",${A}}`]: "0x80 1x10" }],
  },
  KeyplaneControllerWithoutLeader: {
    fires: [{}, { [LEADER]: constant(0) }],
    quiet: [{ [LEADER]: constant(0), [`leader_election_master_status{name="keyplane",${B}}`]: constant(1) }],
  },
  KeyplaneReconcileErrors: {
    fires: [{ [reconciled("success")]: growing(8), [reconciled("error")]: growing(2) }],
    quiet: [{ [reconciled("success")]: growing(98), [reconciled("error")]: growing(2) }],
  },
  KeyplaneWorkQueueLong: {
    fires: [{ [`workqueue_depth{name="keyplane",${A}}`]: constant(600) }],
    quiet: [
      { [`workqueue_depth{name="keyplane",${A}}`]: "0x80 5000x5 0x5" },
      { 'workqueue_depth{name="other"}': constant(600) },
    ],
  },
  KeyplaneWatchStale: {
    fires: [{ [`keyplane_watch_age_seconds{watch="PlatformKey",${A}}`]: "0+60x90" }],
    quiet: [{ [`keyplane_watch_age_seconds{watch="PlatformKey",${A}}`]: constant(70) }],
  },
  KeyplaneGarbageCollectionPaused: {
    fires: [{ [`keyplane_garbage_collection_paused{kind="PlatformKey",${A}}`]: constant(1) }],
    quiet: [{ [`keyplane_garbage_collection_paused{kind="PlatformKey",${A}}`]: constant(0) }],
  },
  KeyplaneConfirmationsSlow: {
    fires: [
      {
        [confirmedWithin("5")]: growing(1),
        [confirmedWithin("10")]: growing(10),
        [confirmedWithin("+Inf")]: growing(10),
      },
    ],
    quiet: [
      {
        [confirmedWithin("5")]: growing(10),
        [confirmedWithin("10")]: growing(10),
        [confirmedWithin("+Inf")]: growing(10),
      },
      {
        [confirmedWithin("5")]: constant(1),
        [confirmedWithin("10")]: constant(10),
        [confirmedWithin("+Inf")]: constant(10),
      },
    ],
  },
  KeyplaneConfirmationsStuck: {
    fires: [
      {
        [condition("Enforced", "Confirming", "PlatformKey", "False")]: constant(2),
        [`keyplane_confirmation_seconds_count{${A}}`]: constant(9),
      },
    ],
    quiet: [
      {
        [condition("Enforced", "Confirming", "PlatformKey", "False")]: constant(2),
        [`keyplane_confirmation_seconds_count{${A}}`]: growing(1),
      },
    ],
  },
  KeyplaneObjectsStalled: {
    fires: [
      { [condition("Stalled", "SecretConflict")]: constant(1) },
      { [condition("Stalled", "NamespaceTaken", "PlatformTeam")]: constant(1) },
    ],
    quiet: [{ [condition("Stalled", "Expired")]: constant(3), [condition("Stalled", "Revoked")]: constant(3) }],
  },
  KeyplaneObjectsNotReady: {
    fires: [{ [condition("Reconciling", "SecretUnreadable")]: constant(1) }],
    quiet: [{ [condition("Reconciling", "SecretUnreadable")]: "0x50 1x40" }],
  },
  KeyplaneKeysExpiring: {
    fires: [{ [`keyplane_keys_expiring{${A}}`]: constant(1), [`keyplane_keys_expiring{${B}}`]: constant(0) }],
    quiet: [{ [`keyplane_keys_expiring{${A}}`]: constant(0) }],
  },
  KeyplaneStaleConsumers: {
    fires: [{ [condition("StaleConsumers", "OldVersionInUse")]: constant(1) }],
    quiet: [{ [condition("StaleConsumers", "NoStaleConsumers", "PlatformKey", "False")]: constant(40) }],
  },
  KeyplaneLeakedKeyWorks: {
    fires: [{ [condition("Leaked", "LeakReported")]: constant(1) }],
    quiet: [{ [condition("Ready", "Ready")]: constant(1) }],
  },
  KeyplaneBudgetExhausted: {
    fires: [{ [condition("BudgetExhausted", "BudgetExhausted", "PlatformTeam")]: constant(1) }],
    quiet: [{ [condition("BudgetExhausted", "BudgetNearlyExhausted", "PlatformTeam", "False")]: constant(3) }],
  },
};
