// Generated from infra/rbac by scripts/generate.ts. Change the rules there and run `node scripts/generate.ts`.

/** Namespace and ServiceAccount of the controllers in infra/rbac. */
export const CONTROLLER = {
  "namespace": "keyplane-system",
  "account": "keyplane-controller"
} as const;

/** The roles of infra/rbac/controller.yaml, each with the namespace where it holds: "" for the whole cluster. */
export const CONTROLLER_ROLES = [
  {
    "namespace": "",
    "rules": [
      {
        "group": "keyplane.dev",
        "resources": [
          "platformkeys",
          "platformteams",
          "modelgateways",
          "memorylibraries"
        ],
        "verbs": [
          "get",
          "list",
          "watch",
          "patch"
        ]
      },
      {
        "group": "keyplane.dev",
        "resources": [
          "platformkeypolicies"
        ],
        "verbs": [
          "get",
          "list",
          "watch"
        ]
      },
      {
        "group": "keyplane.dev",
        "resources": [
          "platformkeys/status",
          "platformteams/status",
          "platformkeypolicies/status",
          "modelgateways/status",
          "memorylibraries/status"
        ],
        "verbs": [
          "patch"
        ]
      },
      {
        "group": "",
        "resources": [
          "namespaces"
        ],
        "verbs": [
          "get"
        ]
      }
    ]
  },
  {
    "namespace": "keyplane-system",
    "rules": [
      {
        "group": "coordination.k8s.io",
        "resources": [
          "leases"
        ],
        "verbs": [
          "get",
          "create",
          "update"
        ]
      }
    ]
  },
  {
    "namespace": "default",
    "rules": [
      {
        "group": "events.k8s.io",
        "resources": [
          "events"
        ],
        "verbs": [
          "create"
        ]
      }
    ]
  }
] as const;

/** The rules of infra/rbac/namespace.yaml, in each namespace that holds keys or gateways. */
export const NAMESPACE_RULES = [
  {
    "group": "",
    "resources": [
      "secrets"
    ],
    "verbs": [
      "get",
      "list",
      "watch",
      "create",
      "update",
      "delete"
    ]
  },
  {
    "group": "events.k8s.io",
    "resources": [
      "events"
    ],
    "verbs": [
      "create"
    ]
  },
  {
    "group": "apps",
    "resources": [
      "deployments",
      "statefulsets",
      "daemonsets"
    ],
    "verbs": [
      "patch"
    ]
  }
] as const;
