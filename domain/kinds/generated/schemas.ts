// Generated from crds/ by scripts/generate.ts. Change the schema there and run `node scripts/generate.ts`.
import type { Kind } from "../kinds.ts";
import type { Schema } from "../schema.ts";

/** The schema of each kind, as the API server has it. */
export const SCHEMAS: Readonly<Record<Kind, Schema>> = {
  "MemoryLibrary": {
    "description": "A library of atoms: remembered statements that keys with a memory scope read and write.",
    "type": "object",
    "required": [
      "spec"
    ],
    "properties": {
      "apiVersion": {
        "description": "Always keyplane.dev/v1alpha1.",
        "type": "string"
      },
      "kind": {
        "description": "Always MemoryLibrary.",
        "type": "string"
      },
      "metadata": {
        "type": "object",
        "properties": {
          "name": {
            "description": "The library's name, unique in its namespace, at most 63 characters.",
            "type": "string",
            "maxLength": 63,
            "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
          }
        }
      },
      "spec": {
        "description": "What the library is to be.",
        "type": "object",
        "properties": {
          "displayName": {
            "description": "The name shown in lists; default: the object's name.",
            "type": "string",
            "minLength": 1,
            "maxLength": 128,
            "pattern": "^[^\\x00]*$",
            "x-kubernetes-validations": [
              {
                "rule": "!self.matches(\"[\\u202a-\\u202e\\u2066-\\u2069]\")",
                "message": "must not hold U+202A to U+202E or U+2066 to U+2069, which turn the direction of text: leave them out"
              }
            ]
          },
          "description": {
            "description": "What belongs in the library, for people and models.",
            "type": "string",
            "maxLength": 2048,
            "pattern": "^[^\\x00]*$"
          },
          "deletionPolicy": {
            "description": "When the declaration is deleted: Retain the atoms for a later library of the same name; or Delete them.",
            "type": "string",
            "enum": [
              "Retain",
              "Delete"
            ],
            "default": "Retain"
          },
          "embedding": {
            "description": "Search by meaning. Each atom is embedded after its save through a gateway of the team, with a key of the library that may call only this model there. The atoms' text is sent to that gateway. Left out, search uses words only.",
            "type": "object",
            "required": [
              "gatewayRef",
              "model"
            ],
            "properties": {
              "gatewayRef": {
                "description": "The ModelGateway to embed through, with an upstream that speaks openai or gemini.",
                "type": "object",
                "required": [
                  "name"
                ],
                "x-kubernetes-map-type": "atomic",
                "properties": {
                  "name": {
                    "description": "The ModelGateway's name.",
                    "type": "string",
                    "maxLength": 63,
                    "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
                  },
                  "namespace": {
                    "description": "Its namespace, which must be of the same team; default: the library's.",
                    "type": "string",
                    "maxLength": 63,
                    "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
                  }
                }
              },
              "model": {
                "description": "The embedding model or a logical route of the gateway. A change embeds all atoms again.",
                "type": "string",
                "minLength": 1,
                "maxLength": 256,
                "pattern": "^[^\\x00]*$"
              },
              "dimensions": {
                "description": "The vector's length, for a model that can return shorter ones.",
                "type": "integer",
                "minimum": 1,
                "maximum": 4096
              }
            }
          },
          "extraction": {
            "description": "Lets a model extract atoms from submitted conversations after the call, through a gateway of the team, with a key of the library that may call only this model there. The conversations are sent to that gateway. Left out, the library accepts no conversation.",
            "type": "object",
            "required": [
              "gatewayRef",
              "model"
            ],
            "properties": {
              "gatewayRef": {
                "description": "The ModelGateway to read conversations through.",
                "type": "object",
                "required": [
                  "name"
                ],
                "x-kubernetes-map-type": "atomic",
                "properties": {
                  "name": {
                    "description": "The ModelGateway's name.",
                    "type": "string",
                    "maxLength": 63,
                    "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
                  },
                  "namespace": {
                    "description": "Its namespace, which must be of the same team; default: the library's.",
                    "type": "string",
                    "maxLength": 63,
                    "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
                  }
                }
              },
              "model": {
                "description": "The model or a logical route of the gateway.",
                "type": "string",
                "minLength": 1,
                "maxLength": 256,
                "pattern": "^[^\\x00]*$"
              },
              "tokensPerDay": {
                "description": "The tokens of conversations per day (UTC), estimated with the model's longest answers. Beyond it, conversations are refused until the next day.",
                "type": "integer",
                "format": "int64",
                "minimum": 10000,
                "maximum": 1000000000000,
                "default": 1000000
              }
            }
          }
        }
      },
      "status": {
        "description": "What the library is. Written by Keyplane alone.",
        "type": "object",
        "default": {
          "observedGeneration": -1,
          "conditions": [
            {
              "type": "Ready",
              "status": "Unknown",
              "reason": "Pending",
              "message": "No controller has reconciled this yet. See that a Keyplane controller runs and serves this namespace.",
              "lastTransitionTime": "1970-01-01T00:00:00Z"
            }
          ]
        },
        "properties": {
          "observedGeneration": {
            "description": "The generation that this status describes.",
            "type": "integer",
            "format": "int64"
          },
          "controllerName": {
            "description": "The Lease, as namespace/name, of the one controller that writes this status.",
            "type": "string",
            "maxLength": 317
          },
          "libraryID": {
            "description": "The library's permanent id.",
            "type": "string",
            "maxLength": 64
          },
          "team": {
            "description": "The library's PlatformTeam, by its namespace.",
            "type": "string",
            "maxLength": 63
          },
          "conditions": {
            "description": "Ready, Accepted, ResolvedRefs, Embedded, Reconciling and Stalled.",
            "type": "array",
            "maxItems": 16,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": [
              "type"
            ],
            "items": {
              "description": "One aspect of the state.",
              "type": "object",
              "required": [
                "type",
                "status",
                "lastTransitionTime",
                "reason",
                "message"
              ],
              "properties": {
                "type": {
                  "description": "The condition's type.",
                  "type": "string",
                  "maxLength": 64
                },
                "status": {
                  "description": "True, False or Unknown.",
                  "type": "string",
                  "enum": [
                    "True",
                    "False",
                    "Unknown"
                  ]
                },
                "observedGeneration": {
                  "description": "The generation that it describes.",
                  "type": "integer",
                  "format": "int64",
                  "minimum": 0
                },
                "lastTransitionTime": {
                  "description": "When the status last changed.",
                  "type": "string",
                  "format": "date-time"
                },
                "reason": {
                  "description": "The reason, one word of the catalogue.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 64,
                  "pattern": "^[A-Za-z]([A-Za-z0-9]*[A-Za-z0-9])?$"
                },
                "message": {
                  "description": "The cause and the remedy, for people.",
                  "type": "string",
                  "maxLength": 4096
                }
              }
            }
          }
        }
      }
    }
  },
  "ModelGateway": {
    "description": "A gateway to model providers, served under /g/ and its public id. Clients never see provider credentials.",
    "type": "object",
    "required": [
      "spec"
    ],
    "x-kubernetes-validations": [
      {
        "rule": "!has(oldSelf.status) || !has(oldSelf.status.publicID) || !has(self.spec.publicID) || self.spec.publicID == oldSelf.status.publicID",
        "message": "publicID does not change, since clients have it in their URLs: write the one in status.publicID, or declare another ModelGateway",
        "fieldPath": ".spec.publicID"
      }
    ],
    "properties": {
      "apiVersion": {
        "description": "Always keyplane.dev/v1alpha1.",
        "type": "string"
      },
      "kind": {
        "description": "Always ModelGateway.",
        "type": "string"
      },
      "metadata": {
        "type": "object",
        "properties": {
          "name": {
            "description": "The gateway's name, unique in its namespace, at most 63 characters.",
            "type": "string",
            "maxLength": 63,
            "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
          }
        }
      },
      "spec": {
        "description": "What the gateway is to be.",
        "type": "object",
        "required": [
          "upstreams"
        ],
        "x-kubernetes-validations": [
          {
            "rule": "!has(oldSelf.publicID) || (has(self.publicID) && self.publicID == oldSelf.publicID)",
            "message": "publicID does not change, since clients have it in their URLs: write the one it had, or declare another ModelGateway",
            "fieldPath": ".publicID"
          },
          {
            "rule": "self.routes.all(r, self.upstreams.exists(u, u.name == r.upstream))",
            "message": "a route names an upstream that is not there: write the name of one of upstreams",
            "fieldPath": ".routes"
          },
          {
            "rule": "self.routes.all(r, r.fallbacks.all(f, self.upstreams.exists(u, u.name == f.upstream)))",
            "message": "a fallback names an upstream that is not there: write the name of one of upstreams",
            "fieldPath": ".routes"
          },
          {
            "rule": "['openai', 'gemini', 'anthropic'].all(d, self.routes.all(r, !self.upstreams.exists(u, u.name == r.upstream && u.dialect == d) || r.fallbacks.all(f, !self.upstreams.exists(u, u.name == f.upstream && u.dialect != d))))",
            "message": "a fallback has another dialect than its route's upstream, and requests are passed on as they are: name an upstream of the same dialect",
            "fieldPath": ".routes"
          }
        ],
        "properties": {
          "publicID": {
            "description": "The gateway's id in URLs, unique in the installation; default: generated. Immutable.",
            "type": "string",
            "maxLength": 63,
            "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
          },
          "routesOnly": {
            "description": "Whether to serve only models that a route names.",
            "type": "boolean",
            "default": false
          },
          "operations": {
            "description": "The calls that it serves, by kind; others get 404. The reference of the gateway's calls lists which paths are of which kind.",
            "type": "array",
            "minItems": 1,
            "maxItems": 10,
            "x-kubernetes-list-type": "set",
            "default": [
              "generate",
              "embed",
              "models"
            ],
            "items": {
              "description": "generate, text and multimodal generation; embed, embeddings; models, the lists of its routes; images, generating and editing pictures; audio, speech, transcriptions and translations; moderations, judging texts and pictures; responses, reading back and deleting stored responses and conversations; files, uploading, listing, reading and deleting files, and caching contents; batches, requests that are answered later; vectorStores, searching files by meaning.",
              "type": "string",
              "maxLength": 32,
              "enum": [
                "generate",
                "embed",
                "models",
                "images",
                "audio",
                "moderations",
                "responses",
                "files",
                "batches",
                "vectorStores"
              ]
            }
          },
          "upstreams": {
            "description": "The providers. A request goes to the first one of its path's dialect, unless a route names another.",
            "type": "array",
            "minItems": 1,
            "maxItems": 16,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": [
              "name"
            ],
            "items": {
              "description": "One provider.",
              "type": "object",
              "required": [
                "name",
                "dialect",
                "baseURL"
              ],
              "x-kubernetes-validations": [
                {
                  "rule": "self.dialect != 'openai' || self.baseURL.matches('/openai(/v1)?/*$') || !self.baseURL.matches('^https?://[^/]+[.](openai|cognitiveservices)[.]azure[.](com|us|cn)(:[0-9]+)?(/|$)')",
                  "message": "is at Azure, which serves OpenAI's paths without a query below /openai/v1 alone: write https://NAME.openai.azure.com/openai/v1",
                  "fieldPath": ".baseURL"
                }
              ],
              "properties": {
                "name": {
                  "description": "The name that routes refer to.",
                  "type": "string",
                  "maxLength": 63,
                  "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
                },
                "dialect": {
                  "description": "The API it speaks.",
                  "type": "string",
                  "enum": [
                    "openai",
                    "gemini",
                    "anthropic"
                  ]
                },
                "baseURL": {
                  "description": "The http or https URL of its origin, with a path prefix if it has one, as the provider gives it for the dialect's SDK. The operation's path, such as /v1/chat/completions, is appended: with openai, without its version where the prefix has one, such as /v1, /api/paas/v4 or /v1beta/openai; with gemini, where the prefix is one; with anthropic, where it ends in /v1. Private addresses are refused unless the installation allows them.",
                  "type": "string",
                  "maxLength": 512,
                  "pattern": "^https?://([^\\s\\x00/?#@:<>\\[\\]\\\\^|%]+|\\[[0-9A-Fa-f:.]+\\])(:([0-5]?[0-9]{0,4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?(/[^\\s\\x00?#]*)?$"
                },
                "credentialRef": {
                  "description": "The Secret in this namespace with the provider's credential, at most 4,096 characters. Left out, calls go there without a credential, as to a model server of one's own.",
                  "type": "object",
                  "required": [
                    "name"
                  ],
                  "x-kubernetes-map-type": "atomic",
                  "properties": {
                    "name": {
                      "description": "The Secret's name.",
                      "type": "string",
                      "maxLength": 253,
                      "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
                    },
                    "key": {
                      "description": "The data key in it.",
                      "type": "string",
                      "maxLength": 253,
                      "pattern": "^([-_a-zA-Z0-9]|\\.[-_a-zA-Z0-9])[-._a-zA-Z0-9]*$",
                      "default": "api-key"
                    }
                  }
                }
              }
            }
          },
          "routes": {
            "description": "Names that clients may use for a model, and their targets.",
            "type": "array",
            "maxItems": 256,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": [
              "model"
            ],
            "default": [],
            "items": {
              "description": "One logical route.",
              "type": "object",
              "required": [
                "model",
                "routeID",
                "upstream",
                "upstreamModel"
              ],
              "x-kubernetes-validations": [
                {
                  "rule": "has(self.weight) || !self.fallbacks.exists(f, has(f.weight))",
                  "message": "a fallback's weight needs one of its route: write weight beside the route's upstream too, or 0 for no first calls",
                  "fieldPath": ".fallbacks"
                },
                {
                  "rule": "!has(self.weight) || self.fallbacks.exists(f, has(f.weight))",
                  "message": "weight needs a fallback's: write weight of a fallback to share calls with, or remove weight",
                  "fieldPath": ".weight"
                },
                {
                  "rule": "!has(self.weight) || self.weight > 0 || self.fallbacks.all(f, !has(f.weight)) || self.fallbacks.exists(f, has(f.weight) && f.weight > 0)",
                  "message": "all weights are 0: write 1 or more for an upstream that is to take first calls",
                  "fieldPath": ".weight"
                },
                {
                  "rule": "!has(self.sticky) || has(self.weight)",
                  "message": "sticky needs weights: write weight of the route and of its fallbacks, or remove sticky",
                  "fieldPath": ".sticky"
                }
              ],
              "properties": {
                "model": {
                  "description": "The name in the client's request.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 256,
                  "pattern": "^[!-~]+$"
                },
                "routeID": {
                  "description": "The route's id, sent in the answer's header x-keyplane-route-id.",
                  "type": "string",
                  "maxLength": 63,
                  "pattern": "^[A-Za-z0-9][-._A-Za-z0-9]*$"
                },
                "upstream": {
                  "description": "The name of the upstream.",
                  "type": "string",
                  "maxLength": 63,
                  "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
                },
                "upstreamModel": {
                  "description": "The model to request from it.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 256,
                  "pattern": "^[!-~]+$"
                },
                "weight": {
                  "description": "Its share of first calls; without weights, all.",
                  "type": "integer",
                  "format": "int32",
                  "minimum": 0,
                  "maximum": 1000000
                },
                "sticky": {
                  "description": "Key keeps a key's calls at one upstream.",
                  "type": "string",
                  "enum": [
                    "Key"
                  ]
                },
                "rateLimit": {
                  "description": "The limits of calls that name the route, of all keys together, such as for an upstream's quota; default: unlimited. The limits of keys and teams apply too. A call counts once, with its fallbacks.",
                  "type": "object",
                  "x-kubernetes-validations": [
                    {
                      "rule": "has(self.requestsPerMinute) || has(self.tokensPerMinute) || has(self.concurrent)",
                      "message": "rateLimit limits nothing: write requestsPerMinute, tokensPerMinute, concurrent or several of them"
                    },
                    {
                      "rule": "!has(self.burst) || has(self.requestsPerMinute)",
                      "message": "burst belongs to a rate: write requestsPerMinute beside it, or remove burst"
                    },
                    {
                      "rule": "!has(self.scope) || has(self.requestsPerMinute) || has(self.tokensPerMinute)",
                      "message": "scope belongs to a rate: write requestsPerMinute or tokensPerMinute beside it, or remove scope"
                    }
                  ],
                  "properties": {
                    "requestsPerMinute": {
                      "description": "The sustained requests per minute; default: unlimited.",
                      "type": "integer",
                      "format": "int32",
                      "minimum": 1,
                      "maximum": 1000000
                    },
                    "burst": {
                      "description": "Requests at once; default: a minute's worth.",
                      "type": "integer",
                      "format": "int32",
                      "minimum": 1,
                      "maximum": 1000000
                    },
                    "tokensPerMinute": {
                      "description": "The tokens of model calls per minute, sustained and at once; default: unlimited. A call reserves what it is expected to use and is charged what its answer reports.",
                      "type": "integer",
                      "format": "int32",
                      "minimum": 1,
                      "maximum": 100000000
                    },
                    "scope": {
                      "description": "Who counts requests and tokens: Installation, all server replicas together; Replica (default), each by itself.",
                      "type": "string",
                      "enum": [
                        "Replica",
                        "Installation"
                      ]
                    },
                    "concurrent": {
                      "description": "Concurrent calls per replica, streams included; default: unlimited.",
                      "type": "integer",
                      "format": "int32",
                      "minimum": 1,
                      "maximum": 10000
                    }
                  }
                },
                "fallbacks": {
                  "description": "What to try, in this order, when the upstream refuses the connection, answers 429 or 5xx, or times out.",
                  "type": "array",
                  "maxItems": 4,
                  "x-kubernetes-list-type": "atomic",
                  "default": [],
                  "items": {
                    "description": "One fallback.",
                    "type": "object",
                    "required": [
                      "upstream",
                      "upstreamModel"
                    ],
                    "properties": {
                      "upstream": {
                        "description": "The name of the upstream, of the same dialect as the route's.",
                        "type": "string",
                        "maxLength": 63,
                        "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
                      },
                      "upstreamModel": {
                        "description": "The model to request from it.",
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 256,
                        "pattern": "^[!-~]+$"
                      },
                      "weight": {
                        "description": "Its share of first calls; default: 0.",
                        "type": "integer",
                        "format": "int32",
                        "minimum": 0,
                        "maximum": 1000000
                      }
                    }
                  }
                },
                "retry": {
                  "description": "Retries at the same upstream after 429, 5xx or a failed connection, before the fallbacks; default: none.",
                  "type": "object",
                  "required": [
                    "attempts"
                  ],
                  "properties": {
                    "attempts": {
                      "description": "The retries at each upstream.",
                      "type": "integer",
                      "format": "int32",
                      "minimum": 1,
                      "maximum": 5
                    }
                  }
                },
                "timeouts": {
                  "description": "The times of its calls.",
                  "type": "object",
                  "x-kubernetes-validations": [
                    {
                      "rule": "has(self.firstByteSeconds) || has(self.idleSeconds)",
                      "message": "timeouts bounds nothing: write firstByteSeconds, idleSeconds or both"
                    }
                  ],
                  "properties": {
                    "firstByteSeconds": {
                      "description": "Seconds until the answer begins, over all attempts; default: 600 for each upstream, or 60 where a fallback is left.",
                      "type": "integer",
                      "format": "int32",
                      "minimum": 1,
                      "maximum": 600
                    },
                    "idleSeconds": {
                      "description": "Seconds without a piece of the answer; default 300.",
                      "type": "integer",
                      "format": "int32",
                      "minimum": 1,
                      "maximum": 300
                    }
                  }
                }
              }
            }
          }
        }
      },
      "status": {
        "description": "What the gateway is. Written by Keyplane alone.",
        "type": "object",
        "default": {
          "observedGeneration": -1,
          "conditions": [
            {
              "type": "Ready",
              "status": "Unknown",
              "reason": "Pending",
              "message": "No controller has reconciled this yet. See that a Keyplane controller runs and serves this namespace.",
              "lastTransitionTime": "1970-01-01T00:00:00Z"
            }
          ]
        },
        "properties": {
          "observedGeneration": {
            "description": "The generation that this status describes.",
            "type": "integer",
            "format": "int64"
          },
          "controllerName": {
            "description": "The Lease, as namespace/name, of the one controller that writes this status.",
            "type": "string",
            "maxLength": 317
          },
          "gatewayID": {
            "description": "The gateway's permanent id.",
            "type": "string",
            "maxLength": 64
          },
          "publicID": {
            "description": "The id in URLs, declared or generated.",
            "type": "string",
            "maxLength": 63
          },
          "team": {
            "description": "The gateway's PlatformTeam, by its namespace.",
            "type": "string",
            "maxLength": 63
          },
          "conditions": {
            "description": "Ready, Accepted, ResolvedRefs, CredentialsAccepted, Reconciling and Stalled.",
            "type": "array",
            "maxItems": 16,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": [
              "type"
            ],
            "items": {
              "description": "One aspect of the state.",
              "type": "object",
              "required": [
                "type",
                "status",
                "lastTransitionTime",
                "reason",
                "message"
              ],
              "properties": {
                "type": {
                  "description": "The condition's type.",
                  "type": "string",
                  "maxLength": 64
                },
                "status": {
                  "description": "True, False or Unknown.",
                  "type": "string",
                  "enum": [
                    "True",
                    "False",
                    "Unknown"
                  ]
                },
                "observedGeneration": {
                  "description": "The generation that it describes.",
                  "type": "integer",
                  "format": "int64",
                  "minimum": 0
                },
                "lastTransitionTime": {
                  "description": "When the status last changed.",
                  "type": "string",
                  "format": "date-time"
                },
                "reason": {
                  "description": "The reason, one word of the catalogue.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 64,
                  "pattern": "^[A-Za-z]([A-Za-z0-9]*[A-Za-z0-9])?$"
                },
                "message": {
                  "description": "The cause and the remedy, for people.",
                  "type": "string",
                  "maxLength": 4096
                }
              }
            }
          }
        }
      }
    }
  },
  "PlatformKeyPolicy": {
    "description": "A platform's rules for the keys of its teams. All policies of a team apply.",
    "type": "object",
    "required": [
      "spec"
    ],
    "properties": {
      "apiVersion": {
        "description": "Always keyplane.dev/v1alpha1.",
        "type": "string"
      },
      "kind": {
        "description": "Always PlatformKeyPolicy.",
        "type": "string"
      },
      "metadata": {
        "type": "object",
        "properties": {
          "name": {
            "description": "The policy's name, at most 63 characters.",
            "type": "string",
            "maxLength": 63,
            "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
          }
        }
      },
      "spec": {
        "description": "Which teams the policy is for, and what it asks of their keys.",
        "type": "object",
        "required": [
          "teamSelector"
        ],
        "x-kubernetes-validations": [
          {
            "rule": "has(self.expiry) || has(self.rotation) || has(self.allowedScopes) || has(self.allowedPresets) || has(self.allowedModels) || has(self.allowedGateways) || has(self.allowedCIDRs) || has(self.maxKeys) || has(self.rateLimit) || has(self.budgets) || has(self.sharedBudgets)",
            "message": "the policy asks nothing of any key: write a rule, such as expiry: {max: 2160h}"
          }
        ],
        "properties": {
          "teamSelector": {
            "description": "The PlatformTeams that the policy applies to: those that match every condition; {} is every team.",
            "type": "object",
            "properties": {
              "matchNames": {
                "description": "The team is one of these.",
                "type": "array",
                "minItems": 1,
                "maxItems": 256,
                "x-kubernetes-list-type": "set",
                "items": {
                  "description": "A PlatformTeam's name.",
                  "type": "string",
                  "maxLength": 63,
                  "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
                }
              },
              "matchExpressions": {
                "description": "Conditions on the team's labels, as in a Kubernetes label selector.",
                "type": "array",
                "minItems": 1,
                "maxItems": 16,
                "x-kubernetes-list-type": "atomic",
                "items": {
                  "description": "One condition on one label.",
                  "type": "object",
                  "required": [
                    "key",
                    "operator"
                  ],
                  "x-kubernetes-validations": [
                    {
                      "rule": "!(self.operator in ['In', 'NotIn']) || has(self.values)",
                      "message": "In and NotIn need values: write values: [a-value]"
                    },
                    {
                      "rule": "!(self.operator in ['Exists', 'DoesNotExist']) || !has(self.values)",
                      "message": "Exists and DoesNotExist look at no value: remove values, or write In or NotIn",
                      "fieldPath": ".values"
                    }
                  ],
                  "properties": {
                    "key": {
                      "description": "The label's name, such as environment or example.com/tier.",
                      "type": "string",
                      "minLength": 1,
                      "maxLength": 317,
                      "pattern": "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
                    },
                    "operator": {
                      "description": "In: the label has one of values. NotIn: it has none of them, or is missing. Exists, DoesNotExist: it is present or missing.",
                      "type": "string",
                      "enum": [
                        "In",
                        "NotIn",
                        "Exists",
                        "DoesNotExist"
                      ]
                    },
                    "values": {
                      "description": "The label's values, with In and NotIn.",
                      "type": "array",
                      "minItems": 1,
                      "maxItems": 64,
                      "x-kubernetes-list-type": "set",
                      "items": {
                        "description": "A value.",
                        "type": "string",
                        "maxLength": 63,
                        "pattern": "^[^\\x00]*$"
                      }
                    }
                  }
                }
              }
            }
          },
          "gracePeriod": {
            "description": "How long an existing key that breaks a rule still works, a Go duration from when the rule began to apply to its team. After that the key is refused until it meets the rule.",
            "type": "string",
            "maxLength": 16,
            "pattern": "^([0-9]{1,6}(\\.[0-9]{1,3})?(h|m|s|ms))+$",
            "default": "168h",
            "x-kubernetes-validations": [
              {
                "rule": "duration(self) >= duration('1s')",
                "message": "gracePeriod must be at least a second: write a duration such as 168h"
              }
            ]
          },
          "expiry": {
            "description": "The lifetime of a key's version.",
            "type": "object",
            "x-kubernetes-validations": [
              {
                "rule": "has(self.required) || has(self.default) || has(self.max)",
                "message": "expiry asks nothing: write required, default, max or several of them"
              },
              {
                "rule": "!has(self.default) || !has(self.max) || duration(self.default) <= duration(self.max)",
                "message": "default must not be longer than max: write a shorter default, or a longer max",
                "fieldPath": ".default"
              }
            ],
            "properties": {
              "required": {
                "description": "Whether a key must expire. A default makes it expire.",
                "type": "boolean"
              },
              "default": {
                "description": "The expiresAfter, a Go duration, of a key without expiresAfter and expiresAt; not written into its spec.",
                "type": "string",
                "maxLength": 16,
                "pattern": "^([0-9]{1,6}(\\.[0-9]{1,3})?(h|m|s|ms))+$",
                "x-kubernetes-validations": [
                  {
                    "rule": "duration(self) >= duration('1s')",
                    "message": "default must be at least a second: write a duration such as 2160h"
                  }
                ]
              },
              "max": {
                "description": "The longest lifetime of a version, a Go duration from its creation to expiresAfter or expiresAt. A key that never expires exceeds it.",
                "type": "string",
                "maxLength": 16,
                "pattern": "^([0-9]{1,6}(\\.[0-9]{1,3})?(h|m|s|ms))+$",
                "x-kubernetes-validations": [
                  {
                    "rule": "duration(self) >= duration('1s')",
                    "message": "max must be at least a second: write a duration such as 2160h"
                  }
                ]
              }
            }
          },
          "rotation": {
            "description": "How often a key must rotate.",
            "type": "object",
            "required": [
              "maxInterval"
            ],
            "properties": {
              "maxInterval": {
                "description": "The longest rotation.interval, a Go duration. A key whose versions all end within it, by expiresAfter or expiresAt, needs no interval. After the grace period, it rotates an existing key with a longer interval or none.",
                "type": "string",
                "maxLength": 16,
                "pattern": "^([0-9]{1,6}(\\.[0-9]{1,3})?(h|m|s|ms))+$",
                "x-kubernetes-validations": [
                  {
                    "rule": "duration(self) >= duration('1s')",
                    "message": "maxInterval must be at least a second: write a duration such as 720h"
                  }
                ]
              }
            }
          },
          "allowedScopes": {
            "description": "The scopes that a key may have.",
            "type": "array",
            "minItems": 1,
            "maxItems": 8,
            "x-kubernetes-list-type": "set",
            "items": {
              "description": "A scope, as in the key's scopes.",
              "type": "string",
              "maxLength": 32,
              "enum": [
                "gateway:generate",
                "gateway:embed",
                "gateway:routes",
                "memory:read",
                "memory:write",
                "gateway:files"
              ]
            }
          },
          "allowedPresets": {
            "description": "All scopes of a key must be within one of these presets, whether the key names a preset or scopes.",
            "type": "array",
            "minItems": 1,
            "maxItems": 8,
            "x-kubernetes-list-type": "set",
            "items": {
              "description": "A preset, as in the key's preset.",
              "type": "string",
              "maxLength": 32,
              "enum": [
                "MCPReadOnly",
                "MCPReadWrite",
                "GatewayDefault"
              ]
            }
          },
          "allowedModels": {
            "description": "The routes and models that a key with a gateway scope may name; such a key must declare allowedModels.",
            "type": "array",
            "minItems": 1,
            "maxItems": 256,
            "x-kubernetes-list-type": "set",
            "items": {
              "description": "A model's or a logical route's name.",
              "type": "string",
              "minLength": 1,
              "maxLength": 256,
              "pattern": "^[!-~]+$"
            }
          },
          "allowedGateways": {
            "description": "A key with a gateway scope must be bound to one of these by gatewayRef.",
            "type": "array",
            "minItems": 1,
            "maxItems": 64,
            "x-kubernetes-list-type": "atomic",
            "items": {
              "description": "One gateway.",
              "type": "object",
              "required": [
                "namespace",
                "name"
              ],
              "x-kubernetes-map-type": "atomic",
              "properties": {
                "namespace": {
                  "description": "The ModelGateway's namespace.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 63,
                  "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
                },
                "name": {
                  "description": "The ModelGateway's name.",
                  "type": "string",
                  "maxLength": 63,
                  "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
                }
              }
            }
          },
          "allowedCIDRs": {
            "description": "The IPv4 and IPv6 networks that must contain each network of a key's allowedCIDRs. A key must have such a list.",
            "type": "array",
            "minItems": 1,
            "maxItems": 32,
            "x-kubernetes-list-type": "set",
            "items": {
              "description": "A network, such as 203.0.113.0/24 or 2001:db8::/32, or one address, such as 203.0.113.7/32.",
              "type": "string",
              "maxLength": 64,
              "format": "cidr"
            }
          },
          "maxKeys": {
            "description": "How many unrevoked keys a team may have. The oldest count first.",
            "type": "integer",
            "format": "int32",
            "minimum": 1,
            "maximum": 1000000
          },
          "rateLimit": {
            "description": "The limits of a key.",
            "type": "object",
            "x-kubernetes-validations": [
              {
                "rule": "has(self.requestsPerMinute) || has(self.concurrent) || has(self.tokensPerMinute)",
                "message": "rateLimit asks nothing: write requestsPerMinute, concurrent, tokensPerMinute or several of them"
              }
            ],
            "properties": {
              "requestsPerMinute": {
                "description": "The key's rateLimit.requestsPerMinute, and its burst.",
                "type": "object",
                "x-kubernetes-validations": [
                  {
                    "rule": "has(self.default) || has(self.max)",
                    "message": "this asks nothing: write default, max or both"
                  },
                  {
                    "rule": "!has(self.default) || !has(self.max) || self.default <= self.max",
                    "message": "default must not be higher than max: write a lower default, or a higher max",
                    "fieldPath": ".default"
                  }
                ],
                "properties": {
                  "default": {
                    "description": "For a key that declares none; not written into its spec.",
                    "type": "integer",
                    "format": "int32",
                    "minimum": 1,
                    "maximum": 1000000
                  },
                  "max": {
                    "description": "The highest; a key without a limit exceeds it.",
                    "type": "integer",
                    "format": "int32",
                    "minimum": 1,
                    "maximum": 1000000
                  }
                }
              },
              "concurrent": {
                "description": "The key's rateLimit.concurrent.",
                "type": "object",
                "x-kubernetes-validations": [
                  {
                    "rule": "has(self.default) || has(self.max)",
                    "message": "this asks nothing: write default, max or both"
                  },
                  {
                    "rule": "!has(self.default) || !has(self.max) || self.default <= self.max",
                    "message": "default must not be higher than max: write a lower default, or a higher max",
                    "fieldPath": ".default"
                  }
                ],
                "properties": {
                  "default": {
                    "description": "For a key that declares none; not written into its spec.",
                    "type": "integer",
                    "format": "int32",
                    "minimum": 1,
                    "maximum": 10000
                  },
                  "max": {
                    "description": "The highest; a key that declares none has 256.",
                    "type": "integer",
                    "format": "int32",
                    "minimum": 1,
                    "maximum": 10000
                  }
                }
              },
              "tokensPerMinute": {
                "description": "The key's rateLimit.tokensPerMinute.",
                "type": "object",
                "x-kubernetes-validations": [
                  {
                    "rule": "has(self.default) || has(self.max)",
                    "message": "this asks nothing: write default, max or both"
                  },
                  {
                    "rule": "!has(self.default) || !has(self.max) || self.default <= self.max",
                    "message": "default must not be higher than max: write a lower default, or a higher max",
                    "fieldPath": ".default"
                  }
                ],
                "properties": {
                  "default": {
                    "description": "For a key that declares none; not written into its spec.",
                    "type": "integer",
                    "format": "int32",
                    "minimum": 1,
                    "maximum": 100000000
                  },
                  "max": {
                    "description": "The highest; a key without a limit exceeds it.",
                    "type": "integer",
                    "format": "int32",
                    "minimum": 1,
                    "maximum": 100000000
                  }
                }
              }
            }
          },
          "budgets": {
            "description": "The largest budgets of a key, by unit and period. A key that declares no budget with Refuse of that unit and period has this one. Not written into its spec.",
            "type": "array",
            "minItems": 1,
            "maxItems": 8,
            "x-kubernetes-list-type": "atomic",
            "x-kubernetes-validations": [
              {
                "rule": "self.all(a, self.exists_one(b, b.period == a.period && has(b.cost) == has(a.cost)))",
                "message": "budgets has two of one period: keep the one that is meant"
              }
            ],
            "items": {
              "description": "The largest budget of a period.",
              "type": "object",
              "required": [
                "period"
              ],
              "x-kubernetes-validations": [
                {
                  "rule": "has(self.tokens) != has(self.cost)",
                  "message": "a budget is of tokens or of cost: write one of the two"
                },
                {
                  "rule": "has(self.cost) == has(self.currency)",
                  "message": "cost and currency belong together: write both, such as cost: \"250.00\" and currency: USD"
                },
                {
                  "rule": "!has(self.cost) || self.cost.matches('[1-9]')",
                  "message": "cost must be more than nothing"
                },
                {
                  "rule": "!has(self.timeZone) || (self.timeZone != 'Local' && self.timeZone.matches('^[A-Z][^/]*(/[A-Z][^/]*)*$') && timestamp('2026-01-01T00:00:00Z').getHours(self.timeZone) >= 0)",
                  "message": "timeZone is none that is known: write an IANA name, such as Europe/Berlin, or remove it for UTC"
                }
              ],
              "properties": {
                "tokens": {
                  "description": "The tokens per period, as answers report them.",
                  "type": "integer",
                  "format": "int64",
                  "minimum": 1,
                  "maximum": 1000000000000
                },
                "cost": {
                  "description": "The cost per period by the servers' price list, such as \"250.00\", as text.",
                  "type": "string",
                  "maxLength": 14,
                  "pattern": "^[0-9]{1,7}(\\.[0-9]{1,6})?$"
                },
                "currency": {
                  "description": "The ISO 4217 currency of cost, that of the servers' price list.",
                  "type": "string",
                  "maxLength": 3,
                  "pattern": "^[A-Z]{3}$"
                },
                "period": {
                  "description": "When the budget resets: each Day, Week (on Monday) or Month (on its first day); Total: never.",
                  "type": "string",
                  "enum": [
                    "Day",
                    "Week",
                    "Month",
                    "Total"
                  ]
                },
                "timeZone": {
                  "description": "The IANA time zone of a budget that a key does not declare. A key that declares one keeps its own.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 64,
                  "pattern": "^[A-Za-z][A-Za-z0-9_+/-]*$",
                  "default": "UTC"
                }
              }
            }
          },
          "sharedBudgets": {
            "description": "Budgets that the keys of the policy's teams share for model calls, beside those of each key and team. They apply at once. Use is counted by the policy's name, so a policy that is declared again continues its count.",
            "type": "array",
            "minItems": 1,
            "maxItems": 8,
            "x-kubernetes-list-type": "atomic",
            "x-kubernetes-validations": [
              {
                "rule": "self.all(a, self.exists_one(b, b.period == a.period && has(b.cost) == has(a.cost)))",
                "message": "sharedBudgets has two of one period: keep the one that is meant"
              }
            ],
            "items": {
              "description": "What may be used together in each period.",
              "type": "object",
              "required": [
                "period"
              ],
              "x-kubernetes-validations": [
                {
                  "rule": "has(self.tokens) != has(self.cost)",
                  "message": "a budget is of tokens or of cost: write one of the two"
                },
                {
                  "rule": "has(self.cost) == has(self.currency)",
                  "message": "cost and currency belong together: write both, such as cost: \"250.00\" and currency: USD"
                },
                {
                  "rule": "!has(self.cost) || self.cost.matches('[1-9]')",
                  "message": "cost must be more than nothing"
                },
                {
                  "rule": "!has(self.timeZone) || (self.timeZone != 'Local' && self.timeZone.matches('^[A-Z][^/]*(/[A-Z][^/]*)*$') && timestamp('2026-01-01T00:00:00Z').getHours(self.timeZone) >= 0)",
                  "message": "timeZone is none that is known: write an IANA name, such as Europe/Berlin, or remove it for UTC"
                }
              ],
              "properties": {
                "tokens": {
                  "description": "The tokens per period, as answers report them.",
                  "type": "integer",
                  "format": "int64",
                  "minimum": 1,
                  "maximum": 1000000000000
                },
                "cost": {
                  "description": "The cost per period by the servers' price list, such as \"250.00\", as text.",
                  "type": "string",
                  "maxLength": 14,
                  "pattern": "^[0-9]{1,7}(\\.[0-9]{1,6})?$"
                },
                "currency": {
                  "description": "The ISO 4217 currency of cost, that of the servers' price list.",
                  "type": "string",
                  "maxLength": 3,
                  "pattern": "^[A-Z]{3}$"
                },
                "period": {
                  "description": "When the budget resets: each Day, Week (on Monday) or Month (on its first day); Total: never.",
                  "type": "string",
                  "enum": [
                    "Day",
                    "Week",
                    "Month",
                    "Total"
                  ]
                },
                "timeZone": {
                  "description": "The IANA time zone of the period, such as Europe/Berlin.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 64,
                  "pattern": "^[A-Za-z][A-Za-z0-9_+/-]*$",
                  "default": "UTC"
                },
                "onExhausted": {
                  "description": "Refuse: calls without room are answered 429 budget_exceeded. Alert: they pass and are counted.",
                  "type": "string",
                  "enum": [
                    "Refuse",
                    "Alert"
                  ],
                  "default": "Refuse"
                }
              }
            }
          }
        }
      },
      "status": {
        "description": "What the policy is. Written by Keyplane alone.",
        "type": "object",
        "default": {
          "observedGeneration": -1,
          "conditions": [
            {
              "type": "Ready",
              "status": "Unknown",
              "reason": "Pending",
              "message": "No controller has reconciled this yet. See that a Keyplane controller runs.",
              "lastTransitionTime": "1970-01-01T00:00:00Z"
            }
          ]
        },
        "properties": {
          "observedGeneration": {
            "description": "The generation that this status describes.",
            "type": "integer",
            "format": "int64"
          },
          "controllerName": {
            "description": "The Lease, as namespace/name, of the one controller that writes this status.",
            "type": "string",
            "maxLength": 317
          },
          "teams": {
            "description": "The teams that it applies to.",
            "type": "array",
            "maxItems": 4096,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": [
              "name"
            ],
            "items": {
              "description": "One team.",
              "type": "object",
              "required": [
                "name",
                "since"
              ],
              "properties": {
                "name": {
                  "description": "The PlatformTeam's name.",
                  "type": "string",
                  "maxLength": 63
                },
                "since": {
                  "description": "Since when it applies to this team.",
                  "type": "string",
                  "format": "date-time"
                }
              }
            }
          },
          "namespaces": {
            "description": "The namespaces of these teams.",
            "type": "array",
            "maxItems": 16384,
            "x-kubernetes-list-type": "set",
            "items": {
              "description": "A namespace.",
              "type": "string",
              "maxLength": 63
            }
          },
          "rules": {
            "description": "Since when each rule has its value. The grace period counts from this or from teams[].since, whichever is later.",
            "type": "array",
            "maxItems": 32,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": [
              "rule"
            ],
            "items": {
              "description": "One rule.",
              "type": "object",
              "required": [
                "rule",
                "value",
                "since"
              ],
              "properties": {
                "rule": {
                  "description": "Its field, such as expiry.max.",
                  "type": "string",
                  "maxLength": 64
                },
                "value": {
                  "description": "A digest of its value.",
                  "type": "string",
                  "maxLength": 64
                },
                "since": {
                  "description": "Since when it has this value.",
                  "type": "string",
                  "format": "date-time"
                }
              }
            }
          },
          "conditions": {
            "description": "Ready, Accepted, BudgetExhausted, Reconciling and Stalled.",
            "type": "array",
            "maxItems": 16,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": [
              "type"
            ],
            "items": {
              "description": "One aspect of the state.",
              "type": "object",
              "required": [
                "type",
                "status",
                "lastTransitionTime",
                "reason",
                "message"
              ],
              "properties": {
                "type": {
                  "description": "The condition's type.",
                  "type": "string",
                  "maxLength": 64
                },
                "status": {
                  "description": "True, False or Unknown.",
                  "type": "string",
                  "enum": [
                    "True",
                    "False",
                    "Unknown"
                  ]
                },
                "observedGeneration": {
                  "description": "The generation that it describes.",
                  "type": "integer",
                  "format": "int64",
                  "minimum": 0
                },
                "lastTransitionTime": {
                  "description": "When the status last changed.",
                  "type": "string",
                  "format": "date-time"
                },
                "reason": {
                  "description": "The reason, one word of the catalogue.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 64,
                  "pattern": "^[A-Za-z]([A-Za-z0-9]*[A-Za-z0-9])?$"
                },
                "message": {
                  "description": "The cause and the remedy, for people.",
                  "type": "string",
                  "maxLength": 4096
                }
              }
            }
          }
        }
      }
    }
  },
  "PlatformKey": {
    "description": "A platform API key: what it may do, how long it lives, and the Secret it is written to. Its team is the team of its namespace.",
    "type": "object",
    "required": [
      "spec"
    ],
    "x-kubernetes-validations": [
      {
        "rule": "(has(self.spec.secret.name) ? self.spec.secret.name : self.metadata.name) == (has(oldSelf.spec.secret.name) ? oldSelf.spec.secret.name : oldSelf.metadata.name)",
        "message": "secret.name does not change, since workloads mount it by this name: write the name it had, or declare another PlatformKey for the new Secret",
        "fieldPath": ".spec.secret"
      },
      {
        "rule": "self.spec.source.type != 'ImportSecret' || !has(self.spec.source.secretRef) || self.spec.source.secretRef.name != (has(self.spec.secret.name) ? self.spec.secret.name : self.metadata.name)",
        "message": "an imported Secret is never written to: give secret.name a name other than source.secretRef.name (without secret.name the Secret is named after the key)",
        "fieldPath": ".spec.secret"
      }
    ],
    "properties": {
      "apiVersion": {
        "description": "Always keyplane.dev/v1alpha1.",
        "type": "string"
      },
      "kind": {
        "description": "Always PlatformKey.",
        "type": "string"
      },
      "metadata": {
        "type": "object",
        "properties": {
          "name": {
            "description": "The key's name, unique in its namespace; also its label's value, hence at most 63 characters.",
            "type": "string",
            "maxLength": 63,
            "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
          }
        }
      },
      "spec": {
        "description": "What the key is to be.",
        "type": "object",
        "x-kubernetes-validations": [
          {
            "rule": "has(self.preset) || has(self.scopes)",
            "message": "say what the key may do: write preset: MCPReadOnly, MCPReadWrite or GatewayDefault, or a list such as scopes: [memory:read]"
          },
          {
            "rule": "!(has(self.preset) && has(self.scopes))",
            "message": "preset and scopes exclude each other: keep preset, or write every scope in scopes and remove preset",
            "fieldPath": ".preset"
          },
          {
            "rule": "!has(self.libraryAccess) || has(self.preset) || (has(self.scopes) && self.scopes.exists(s, s.startsWith('memory:')))",
            "message": "libraryAccess needs a memory scope: add memory:read or memory:write to scopes, or remove libraryAccess",
            "fieldPath": ".libraryAccess"
          },
          {
            "rule": "!has(self.mcpDefaultLibraryRef) || has(self.preset) || (has(self.scopes) && self.scopes.exists(s, s.startsWith('memory:')))",
            "message": "mcpDefaultLibraryRef needs a memory scope: add memory:read or memory:write to scopes, or remove mcpDefaultLibraryRef",
            "fieldPath": ".mcpDefaultLibraryRef"
          },
          {
            "rule": "!has(self.mcpDefaultLibraryRef) || !has(self.libraryAccess) || self.libraryAccess.mode != 'Restricted' || !has(self.libraryAccess.libraryRefs) || self.libraryAccess.libraryRefs.exists(r, r.name == self.mcpDefaultLibraryRef.name && (has(r.__namespace__) ? r.__namespace__ : '') == (has(self.mcpDefaultLibraryRef.__namespace__) ? self.mcpDefaultLibraryRef.__namespace__ : ''))",
            "message": "mcpDefaultLibraryRef must be one of libraryAccess.libraryRefs, written in the same way: add it to that list, or name one that is in it",
            "fieldPath": ".mcpDefaultLibraryRef"
          },
          {
            "rule": "!has(self.subjectAccess) || has(self.preset) || (has(self.scopes) && self.scopes.exists(s, s.startsWith('memory:')))",
            "message": "subjectAccess needs a memory scope: add memory:read or memory:write to scopes, or remove subjectAccess",
            "fieldPath": ".subjectAccess"
          },
          {
            "rule": "!has(self.subjectAccess) || self.subjectAccess.mode != 'Required' || !has(self.secret) || !has(self.secret.template) || self.secret.template != 'McpConfig'",
            "message": "McpConfig cannot name the subject of each call, so that no client could connect: write subjectAccess.mode: Bound, or remove template and have the application send X-Keyplane-Subject",
            "fieldPath": ".secret.template"
          },
          {
            "rule": "!(has(self.expiresAfter) && has(self.expiresAt))",
            "message": "expiresAfter and expiresAt exclude each other: keep expiresAfter for an end of each minted version, or expiresAt for one end of the whole key",
            "fieldPath": ".expiresAfter"
          }
        ],
        "properties": {
          "displayName": {
            "description": "The name shown in lists; default: the object's name.",
            "type": "string",
            "minLength": 1,
            "maxLength": 128,
            "pattern": "^[^\\x00]*$",
            "x-kubernetes-validations": [
              {
                "rule": "!self.matches(\"[\\u202a-\\u202e\\u2066-\\u2069]\")",
                "message": "must not hold U+202A to U+202E or U+2066 to U+2069, which turn the direction of text: leave them out"
              }
            ]
          },
          "owner": {
            "description": "Whom to ask about the key, such as an address. It is shown with the key, also to its holder, and decides nothing.",
            "type": "string",
            "minLength": 1,
            "maxLength": 253,
            "pattern": "^[^\\x00]*$",
            "x-kubernetes-validations": [
              {
                "rule": "!self.matches(\"[\\u202a-\\u202e\\u2066-\\u2069]\")",
                "message": "must not hold U+202A to U+202E or U+2066 to U+2069, which turn the direction of text: leave them out"
              }
            ]
          },
          "preset": {
            "description": "A set of scopes, instead of scopes. MCPReadOnly: memory:read. MCPReadWrite: memory:read, memory:write. GatewayDefault: gateway:generate, gateway:embed, gateway:routes, memory:read.",
            "type": "string",
            "enum": [
              "MCPReadOnly",
              "MCPReadWrite",
              "GatewayDefault"
            ]
          },
          "scopes": {
            "description": "What the key may do, instead of preset; without wildcards.",
            "type": "array",
            "minItems": 1,
            "maxItems": 8,
            "x-kubernetes-list-type": "set",
            "items": {
              "description": "gateway:generate, text and multimodal generation; gateway:embed, embeddings; gateway:routes, logical routes; gateway:files, files and cached contents at the providers; memory:read, search and reading; memory:write, creating and changing atoms.",
              "type": "string",
              "maxLength": 32,
              "enum": [
                "gateway:generate",
                "gateway:embed",
                "gateway:routes",
                "memory:read",
                "memory:write",
                "gateway:files"
              ]
            }
          },
          "gatewayRef": {
            "description": "The only gateway that the key may call; default: any of its team. Needs a gateway scope to have an effect.",
            "type": "object",
            "required": [
              "name"
            ],
            "x-kubernetes-map-type": "atomic",
            "properties": {
              "name": {
                "description": "The ModelGateway's name.",
                "type": "string",
                "maxLength": 63,
                "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
              },
              "namespace": {
                "description": "Its namespace, which must be of the same team; default: the key's.",
                "type": "string",
                "maxLength": 63,
                "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
              }
            }
          },
          "allowedModels": {
            "description": "The routes and models that the key may use; default: any. Needs a gateway scope to have an effect.",
            "type": "array",
            "minItems": 1,
            "maxItems": 64,
            "x-kubernetes-list-type": "set",
            "items": {
              "description": "A model's or a logical route's name, as a client writes it in its request.",
              "type": "string",
              "minLength": 1,
              "maxLength": 256,
              "pattern": "^[!-~]+$"
            }
          },
          "libraryAccess": {
            "description": "The memory libraries that the key may use. Only with a memory scope.",
            "type": "object",
            "x-kubernetes-validations": [
              {
                "rule": "self.mode != 'Restricted' || has(self.libraryRefs)",
                "message": "mode: Restricted needs the list: write libraryRefs: [{name: a-library}]"
              },
              {
                "rule": "self.mode != 'All' || !has(self.libraryRefs)",
                "message": "libraryRefs has no effect with mode: All: write mode: Restricted, or remove libraryRefs",
                "fieldPath": ".libraryRefs"
              }
            ],
            "properties": {
              "mode": {
                "description": "All: every library of the team. Restricted: only libraryRefs.",
                "type": "string",
                "enum": [
                  "All",
                  "Restricted"
                ],
                "default": "All"
              },
              "libraryRefs": {
                "description": "The libraries of a Restricted key. A missing one grants nothing and has no substitute.",
                "type": "array",
                "minItems": 1,
                "maxItems": 64,
                "x-kubernetes-list-type": "atomic",
                "x-kubernetes-validations": [
                  {
                    "rule": "self.all(r, self.exists_one(s, s == r))",
                    "message": "a library is in the list twice: remove one of the two"
                  }
                ],
                "items": {
                  "description": "One library.",
                  "type": "object",
                  "required": [
                    "name"
                  ],
                  "x-kubernetes-map-type": "atomic",
                  "properties": {
                    "name": {
                      "description": "The MemoryLibrary's name.",
                      "type": "string",
                      "maxLength": 63,
                      "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
                    },
                    "namespace": {
                      "description": "Its namespace, which must be of the same team; default: the key's.",
                      "type": "string",
                      "maxLength": 63,
                      "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
                    }
                  }
                }
              }
            }
          },
          "subjectAccess": {
            "description": "The subject, an end user or agent, whose memory the key uses. The key reads the subject's and the shared atoms of its libraries, and writes only the subject's. Left out, it uses only shared atoms. Only with a memory scope.",
            "type": "object",
            "required": [
              "mode"
            ],
            "x-kubernetes-validations": [
              {
                "rule": "self.mode != 'Bound' || has(self.subject)",
                "message": "mode: Bound needs the subject: write subject: user-4711"
              },
              {
                "rule": "self.mode != 'Required' || !has(self.subject)",
                "message": "subject has no effect with mode: Required, where each call names one: write mode: Bound, or remove subject",
                "fieldPath": ".subject"
              }
            ],
            "properties": {
              "mode": {
                "description": "Bound: one subject for every call. Required: each call names one in the header X-Keyplane-Subject.",
                "type": "string",
                "enum": [
                  "Bound",
                  "Required"
                ]
              },
              "subject": {
                "description": "The subject of a Bound key.",
                "type": "string",
                "minLength": 1,
                "maxLength": 128,
                "pattern": "^[A-Za-z0-9._@:+=/|-]+$"
              }
            }
          },
          "allowedCIDRs": {
            "description": "The IPv4 and IPv6 networks that the key may be used from; default: any. The client's address is the one that trusted proxies report. The team's list applies too.",
            "type": "array",
            "minItems": 1,
            "maxItems": 32,
            "x-kubernetes-list-type": "set",
            "items": {
              "description": "A network, such as 203.0.113.0/24 or 2001:db8::/32, or one address, such as 203.0.113.7/32.",
              "type": "string",
              "maxLength": 64,
              "format": "cidr"
            }
          },
          "mcpDefaultLibraryRef": {
            "description": "The library of MCP calls that name none; default: the team's. One of libraryRefs when access is Restricted. Only with a memory scope.",
            "type": "object",
            "required": [
              "name"
            ],
            "x-kubernetes-map-type": "atomic",
            "properties": {
              "name": {
                "description": "The MemoryLibrary's name.",
                "type": "string",
                "maxLength": 63,
                "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
              },
              "namespace": {
                "description": "Its namespace, which must be of the same team; default: the key's.",
                "type": "string",
                "maxLength": 63,
                "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
              }
            }
          },
          "state": {
            "description": "Active; Suspended: refused until Active again; Revoked: refused permanently, with all versions.",
            "type": "string",
            "enum": [
              "Active",
              "Suspended",
              "Revoked"
            ],
            "default": "Active",
            "x-kubernetes-validations": [
              {
                "rule": "oldSelf != 'Revoked' || self == 'Revoked'",
                "message": "Revoked is final: leave state: Revoked and declare another PlatformKey, or delete this one and make it again"
              }
            ]
          },
          "expiresAfter": {
            "description": "The lifetime of each version from its creation, a Go duration such as 2160h. Not together with expiresAt.",
            "type": "string",
            "maxLength": 16,
            "pattern": "^([0-9]{1,6}(\\.[0-9]{1,3})?(h|m|s|ms))+$",
            "x-kubernetes-validations": [
              {
                "rule": "duration(self) >= duration('1s')",
                "message": "expiresAfter must be at least a second: write a duration such as 2160h"
              }
            ]
          },
          "expiresAt": {
            "description": "When the whole key expires. A later time revives an expired key. Not together with expiresAfter.",
            "type": "string",
            "format": "date-time",
            "maxLength": 40,
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$",
            "x-kubernetes-validations": [
              {
                "rule": "timestamp(self).getFullYear() >= 1 && timestamp(self).getFullYear() <= 9999",
                "message": "expiresAt must lie between the years 1 and 9999, in UTC: write a time such as 2027-01-31T00:00:00Z"
              }
            ]
          },
          "source": {
            "description": "The origin of the key's secret. Immutable.",
            "type": "object",
            "default": {
              "type": "Generate"
            },
            "x-kubernetes-validations": [
              {
                "rule": "(self.type == 'ImportSecret') == has(self.secretRef)",
                "message": "secretRef and type: ImportSecret belong together: write source: {type: ImportSecret, secretRef: {name: a-secret, key: api-key}}, or neither"
              },
              {
                "rule": "(self.type == 'ImportHash') == has(self.hash)",
                "message": "hash and type: ImportHash belong together: write source: {type: ImportHash, hash: {sha256: 64 hex digits, prefix: inf_ and 8 characters}}, or neither"
              },
              {
                "rule": "self == oldSelf",
                "message": "source does not change: write it as it was, or declare another PlatformKey with the new source"
              }
            ],
            "properties": {
              "type": {
                "description": "Generate: Keyplane creates the key. ImportSecret: the first version is the key in an existing Secret. ImportHash: the first version is known only by its hash. An import is read once.",
                "type": "string",
                "enum": [
                  "Generate",
                  "ImportSecret",
                  "ImportHash"
                ],
                "default": "Generate"
              },
              "secretRef": {
                "description": "With ImportSecret: the Secret in this namespace with the key to import. It is never written.",
                "type": "object",
                "required": [
                  "name"
                ],
                "x-kubernetes-map-type": "atomic",
                "properties": {
                  "name": {
                    "description": "The Secret's name.",
                    "type": "string",
                    "maxLength": 253,
                    "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
                  },
                  "key": {
                    "description": "The data key with the value: inf_ and at least 32 more characters.",
                    "type": "string",
                    "maxLength": 253,
                    "pattern": "^([-_a-zA-Z0-9]|\\.[-_a-zA-Z0-9])[-._a-zA-Z0-9]*$",
                    "default": "api-key"
                  }
                }
              },
              "hash": {
                "description": "With ImportHash: the hash of the key to import.",
                "type": "object",
                "required": [
                  "sha256",
                  "prefix"
                ],
                "x-kubernetes-map-type": "atomic",
                "properties": {
                  "sha256": {
                    "description": "The SHA-256 of the full key, 64 lower-case hex digits.",
                    "type": "string",
                    "maxLength": 64,
                    "pattern": "^[0-9a-f]{64}$"
                  },
                  "prefix": {
                    "description": "The first 12 characters of the key, which identify it in lists.",
                    "type": "string",
                    "maxLength": 12,
                    "pattern": "^inf_[!#-+\\--~]{8}$"
                  }
                }
              }
            }
          },
          "rotation": {
            "description": "When a new version replaces the current one, and how long both work.",
            "type": "object",
            "x-kubernetes-validations": [
              {
                "rule": "!has(self.interval) || duration(self.interval) >= duration('600000h') || duration(self.interval) + duration(self.interval) + duration(self.interval) + duration(self.interval) >= duration(!has(self.overlap) ? '24h' : self.overlap.mode == 'Adoption' ? (has(self.overlap.max) ? self.overlap.max : '24h') : (has(self.overlap.duration) ? self.overlap.duration : '24h'))",
                "message": "interval must be at least a quarter of the overlap, which is 24h by default, since no more than four old versions work beside the new one: write a longer interval, or a shorter overlap",
                "fieldPath": ".interval"
              }
            ],
            "properties": {
              "interval": {
                "description": "The age at which the active version is replaced, a Go duration such as 720h. Without it, nothing rotates by time.",
                "type": "string",
                "maxLength": 16,
                "pattern": "^([0-9]{1,6}(\\.[0-9]{1,3})?(h|m|s|ms))+$",
                "x-kubernetes-validations": [
                  {
                    "rule": "duration(self) >= duration('1s')",
                    "message": "interval must be at least a second: write a duration such as 720h"
                  }
                ]
              },
              "overlap": {
                "description": "How long the old version works beside the new one, whatever caused the new one; default: 24h.",
                "type": "object",
                "x-kubernetes-validations": [
                  {
                    "rule": "self.mode != 'Fixed' || !(has(self.min) || has(self.max) || has(self.quiet))",
                    "message": "min, max and quiet belong to mode: Adoption: write overlap: {mode: Fixed, duration: 24h}, or mode: Adoption with them"
                  },
                  {
                    "rule": "self.mode != 'Adoption' || !has(self.duration)",
                    "message": "duration belongs to mode: Fixed: write overlap: {mode: Adoption, min: 24h, max: 72h}, or mode: Fixed with it",
                    "fieldPath": ".duration"
                  },
                  {
                    "rule": "self.mode != 'Adoption' || (has(self.min) && has(self.max))",
                    "message": "mode: Adoption needs min and max: write overlap: {mode: Adoption, min: 24h, max: 72h}"
                  },
                  {
                    "rule": "!has(self.min) || !has(self.max) || duration(self.min) <= duration(self.max)",
                    "message": "min must not be longer than max: write the longer of the two as max",
                    "fieldPath": ".min"
                  }
                ],
                "properties": {
                  "mode": {
                    "description": "Fixed: for a duration. Adoption: after min, once the new version has been used and the old one unused for quiet; at the latest after max.",
                    "type": "string",
                    "enum": [
                      "Fixed",
                      "Adoption"
                    ],
                    "default": "Fixed"
                  },
                  "duration": {
                    "description": "With Fixed: how long both work; default: 24h; 0s: no overlap.",
                    "type": "string",
                    "maxLength": 16,
                    "pattern": "^([0-9]{1,6}(\\.[0-9]{1,3})?(h|m|s|ms))+$"
                  },
                  "min": {
                    "description": "With Adoption: the shortest overlap.",
                    "type": "string",
                    "maxLength": 16,
                    "pattern": "^([0-9]{1,6}(\\.[0-9]{1,3})?(h|m|s|ms))+$"
                  },
                  "max": {
                    "description": "With Adoption: the longest overlap.",
                    "type": "string",
                    "maxLength": 16,
                    "pattern": "^([0-9]{1,6}(\\.[0-9]{1,3})?(h|m|s|ms))+$"
                  },
                  "quiet": {
                    "description": "With Adoption: how long the old version must have been unused; default: 10m.",
                    "type": "string",
                    "maxLength": 16,
                    "pattern": "^([0-9]{1,6}(\\.[0-9]{1,3})?(h|m|s|ms))+$"
                  }
                }
              },
              "trigger": {
                "description": "Any text. A change creates a new version.",
                "type": "string",
                "minLength": 1,
                "maxLength": 128,
                "pattern": "^[^\\x00]*$"
              }
            }
          },
          "budgets": {
            "description": "The tokens or cost of the key's model calls per day, week, month or in total. A call reserves what it may use and is charged what its answer reports; without room it is answered 429 budget_exceeded. Use is counted by name, so a key that is declared again continues its count.",
            "type": "array",
            "maxItems": 8,
            "x-kubernetes-list-type": "atomic",
            "x-kubernetes-validations": [
              {
                "rule": "self.all(a, self.exists_one(b, b.period == a.period && has(b.cost) == has(a.cost)))",
                "message": "budgets has two of one period: keep the one that is meant"
              }
            ],
            "items": {
              "description": "What may be used in each period.",
              "type": "object",
              "required": [
                "period"
              ],
              "x-kubernetes-validations": [
                {
                  "rule": "has(self.tokens) != has(self.cost)",
                  "message": "a budget is of tokens or of cost: write one of the two"
                },
                {
                  "rule": "has(self.cost) == has(self.currency)",
                  "message": "cost and currency belong together: write both, such as cost: \"250.00\" and currency: USD"
                },
                {
                  "rule": "!has(self.cost) || self.cost.matches('[1-9]')",
                  "message": "cost must be more than nothing"
                },
                {
                  "rule": "!has(self.timeZone) || (self.timeZone != 'Local' && self.timeZone.matches('^[A-Z][^/]*(/[A-Z][^/]*)*$') && timestamp('2026-01-01T00:00:00Z').getHours(self.timeZone) >= 0)",
                  "message": "timeZone is none that is known: write an IANA name, such as Europe/Berlin, or remove it for UTC"
                }
              ],
              "properties": {
                "tokens": {
                  "description": "The tokens per period, as answers report them.",
                  "type": "integer",
                  "format": "int64",
                  "minimum": 1,
                  "maximum": 1000000000000
                },
                "cost": {
                  "description": "The cost per period by the servers' price list, such as \"250.00\", as text.",
                  "type": "string",
                  "maxLength": 14,
                  "pattern": "^[0-9]{1,7}(\\.[0-9]{1,6})?$"
                },
                "currency": {
                  "description": "The ISO 4217 currency of cost, that of the servers' price list.",
                  "type": "string",
                  "maxLength": 3,
                  "pattern": "^[A-Z]{3}$"
                },
                "period": {
                  "description": "When the budget resets: each Day, Week (on Monday) or Month (on its first day); Total: never.",
                  "type": "string",
                  "enum": [
                    "Day",
                    "Week",
                    "Month",
                    "Total"
                  ]
                },
                "timeZone": {
                  "description": "The IANA time zone of the period, such as Europe/Berlin.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 64,
                  "pattern": "^[A-Za-z][A-Za-z0-9_+/-]*$",
                  "default": "UTC"
                },
                "onExhausted": {
                  "description": "Refuse: calls without room are answered 429 budget_exceeded. Alert: they pass and are counted.",
                  "type": "string",
                  "enum": [
                    "Refuse",
                    "Alert"
                  ],
                  "default": "Refuse"
                }
              }
            }
          },
          "rateLimit": {
            "description": "The key's limits; default: an unlimited rate, and 256 concurrent calls per server replica.",
            "type": "object",
            "x-kubernetes-validations": [
              {
                "rule": "has(self.requestsPerMinute) || has(self.tokensPerMinute) || has(self.concurrent)",
                "message": "rateLimit limits nothing: write requestsPerMinute, tokensPerMinute, concurrent or several of them"
              },
              {
                "rule": "!has(self.burst) || has(self.requestsPerMinute)",
                "message": "burst belongs to a rate: write requestsPerMinute beside it, or remove burst"
              },
              {
                "rule": "!has(self.scope) || has(self.requestsPerMinute) || has(self.tokensPerMinute)",
                "message": "scope belongs to a rate: write requestsPerMinute or tokensPerMinute beside it, or remove scope"
              }
            ],
            "properties": {
              "requestsPerMinute": {
                "description": "The sustained requests per minute; default: unlimited.",
                "type": "integer",
                "format": "int32",
                "minimum": 1,
                "maximum": 1000000
              },
              "burst": {
                "description": "Requests at once; default: a minute's worth.",
                "type": "integer",
                "format": "int32",
                "minimum": 1,
                "maximum": 1000000
              },
              "tokensPerMinute": {
                "description": "The tokens of model calls per minute, sustained and at once; default: unlimited. A call reserves what it is expected to use and is charged what its answer reports.",
                "type": "integer",
                "format": "int32",
                "minimum": 1,
                "maximum": 100000000
              },
              "scope": {
                "description": "Who counts requests and tokens: Installation, all server replicas together; Replica (default), each by itself.",
                "type": "string",
                "enum": [
                  "Replica",
                  "Installation"
                ]
              },
              "concurrent": {
                "description": "Concurrent calls per replica, streams included; default: 256.",
                "type": "integer",
                "format": "int32",
                "minimum": 1,
                "maximum": 10000
              }
            }
          },
          "secret": {
            "description": "The Secret that the key is written to.",
            "type": "object",
            "default": {},
            "x-kubernetes-validations": [
              {
                "rule": "!has(self.template) || !(self.template == 'McpConfig' && self.dataKey == 'mcp.json' || self.template == 'ServiceBinding' && self.dataKey in ['type', 'provider', 'uri', 'scopes'] || self.template == 'Env' && self.dataKey in ['KEYPLANE_BASE_URL', 'OPENAI_BASE_URL', 'GOOGLE_GEMINI_BASE_URL', 'ANTHROPIC_BASE_URL'])",
                "message": "secret.template writes something else there: write another data key, such as api-key, or leave out the template",
                "fieldPath": ".dataKey"
              }
            ],
            "properties": {
              "name": {
                "description": "Its name; default: the key's. Immutable.",
                "type": "string",
                "maxLength": 253,
                "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
              },
              "dataKey": {
                "description": "The data key with the plaintext. Immutable.",
                "type": "string",
                "maxLength": 253,
                "pattern": "^([-_a-zA-Z0-9]|\\.[-_a-zA-Z0-9])[-._a-zA-Z0-9]*$",
                "default": "api-key",
                "x-kubernetes-validations": [
                  {
                    "rule": "self == oldSelf",
                    "message": "secret.dataKey does not change, since workloads read it by this name: write the one it had, or declare another PlatformKey"
                  }
                ]
              },
              "creationPolicy": {
                "description": "Owner: the Secret is deleted with the declaration. Orphan: it stays.",
                "type": "string",
                "enum": [
                  "Owner",
                  "Orphan"
                ],
                "default": "Owner"
              },
              "onLost": {
                "description": "When the Secret is deleted: Rotate writes a new version; Report sets a condition.",
                "type": "string",
                "enum": [
                  "Rotate",
                  "Report"
                ],
                "default": "Rotate"
              },
              "onTampered": {
                "description": "When the Secret's value is edited: Rotate writes a new version; Report sets a condition. The edited value never becomes a key.",
                "type": "string",
                "enum": [
                  "Rotate",
                  "Report"
                ],
                "default": "Rotate"
              },
              "template": {
                "description": "More data keys. Env: environment variables of the usual SDKs. McpConfig: an mcp.json with the memory server. ServiceBinding: the entries of the Service Binding specification.",
                "type": "string",
                "enum": [
                  "Env",
                  "McpConfig",
                  "ServiceBinding"
                ]
              }
            }
          },
          "restartTargets": {
            "description": "Workloads of this namespace to restart when the Secret has a new value.",
            "type": "array",
            "maxItems": 16,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": [
              "kind",
              "name"
            ],
            "default": [],
            "items": {
              "description": "One workload.",
              "type": "object",
              "required": [
                "kind",
                "name"
              ],
              "properties": {
                "kind": {
                  "description": "The workload's kind.",
                  "type": "string",
                  "enum": [
                    "Deployment",
                    "StatefulSet",
                    "DaemonSet"
                  ]
                },
                "name": {
                  "description": "Its name.",
                  "type": "string",
                  "maxLength": 253,
                  "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
                }
              }
            }
          },
          "deletionPolicy": {
            "description": "When the declaration is deleted: Revoke the key before the object is removed; Retain the key, which works without a declaration.",
            "type": "string",
            "enum": [
              "Revoke",
              "Retain"
            ],
            "default": "Revoke"
          },
          "deletionProtection": {
            "description": "While true, a deletion of the declaration waits and the key works.",
            "type": "boolean",
            "default": false
          }
        }
      },
      "status": {
        "description": "What the key is. Written by Keyplane alone.",
        "type": "object",
        "default": {
          "observedGeneration": -1,
          "conditions": [
            {
              "type": "Ready",
              "status": "Unknown",
              "reason": "Pending",
              "message": "No controller has reconciled this yet. See that a Keyplane controller runs and serves this namespace.",
              "lastTransitionTime": "1970-01-01T00:00:00Z"
            }
          ]
        },
        "properties": {
          "observedGeneration": {
            "description": "The generation that this status describes.",
            "type": "integer",
            "format": "int64"
          },
          "controllerName": {
            "description": "The Lease, as namespace/name, of the one controller that writes this status.",
            "type": "string",
            "maxLength": 317
          },
          "keyID": {
            "description": "The key's permanent id.",
            "type": "string",
            "maxLength": 64
          },
          "keyPrefix": {
            "description": "The current version's first 12 characters, which never authenticate.",
            "type": "string",
            "maxLength": 12
          },
          "team": {
            "description": "The key's PlatformTeam, by its namespace.",
            "type": "string",
            "maxLength": 63
          },
          "effectiveScopes": {
            "description": "The scopes that preset or scopes grant.",
            "type": "array",
            "maxItems": 8,
            "x-kubernetes-list-type": "set",
            "items": {
              "description": "A scope.",
              "type": "string",
              "maxLength": 32
            }
          },
          "secretRef": {
            "description": "The location of the plaintext.",
            "type": "object",
            "properties": {
              "name": {
                "description": "The Secret's name.",
                "type": "string",
                "maxLength": 253
              },
              "dataKey": {
                "description": "The data key in it.",
                "type": "string",
                "maxLength": 253
              }
            }
          },
          "currentVersion": {
            "description": "The version in the Secret.",
            "type": "integer",
            "format": "int64"
          },
          "versions": {
            "description": "The last five versions, the newest first.",
            "type": "array",
            "maxItems": 5,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": [
              "number"
            ],
            "items": {
              "description": "One version, that is one secret.",
              "type": "object",
              "required": [
                "number",
                "state"
              ],
              "properties": {
                "number": {
                  "description": "Counts from 1.",
                  "type": "integer",
                  "format": "int64"
                },
                "keyPrefix": {
                  "description": "The first 12 characters of this version.",
                  "type": "string",
                  "maxLength": 12
                },
                "state": {
                  "description": "Whether it works, is being replaced, or has ended.",
                  "type": "string",
                  "enum": [
                    "Reserved",
                    "Active",
                    "Retiring",
                    "Retired",
                    "Voided",
                    "Revoked"
                  ]
                },
                "mintedAt": {
                  "description": "When it was created or imported.",
                  "type": "string",
                  "format": "date-time"
                },
                "activatedAt": {
                  "description": "When its delivery was confirmed.",
                  "type": "string",
                  "format": "date-time"
                },
                "retiresAt": {
                  "description": "The latest end of a retiring version.",
                  "type": "string",
                  "format": "date-time"
                },
                "expiresAt": {
                  "description": "When it ends by expiresAfter.",
                  "type": "string",
                  "format": "date-time"
                },
                "lastUsedTime": {
                  "description": "Its last use, updated at most once a day.",
                  "type": "string",
                  "format": "date-time"
                }
              }
            }
          },
          "expiresAt": {
            "description": "When the current version ends, by expiresAfter or expiresAt.",
            "type": "string",
            "format": "date-time"
          },
          "expiryWarned": {
            "description": "The expiry that an event has warned of, a week before it.",
            "type": "string",
            "format": "date-time"
          },
          "restartedVersion": {
            "description": "The last version that restartTargets need no restart for.",
            "type": "integer",
            "minimum": 1
          },
          "nextRotationTime": {
            "description": "When the next version will be created, by rotation.interval or once a waiting rotation has room. Absent if none will be, as for a suspended key.",
            "type": "string",
            "format": "date-time"
          },
          "lastUsedTime": {
            "description": "The key's last use, updated at most once a day.",
            "type": "string",
            "format": "date-time"
          },
          "staleConsumer": {
            "description": "The last use of an old version, for StaleConsumers; updated at most every ten minutes.",
            "type": "object",
            "properties": {
              "version": {
                "description": "The version that was used.",
                "type": "integer",
                "format": "int64"
              },
              "lastUsedTime": {
                "description": "When.",
                "type": "string",
                "format": "date-time"
              },
              "address": {
                "description": "The client's address, as the server saw it.",
                "type": "string",
                "maxLength": 120
              },
              "userAgent": {
                "description": "The User-Agent, without anything that may be a key.",
                "type": "string",
                "maxLength": 120
              }
            }
          },
          "revocation": {
            "description": "The receipt of a revocation.",
            "type": "object",
            "properties": {
              "sequence": {
                "description": "Its place in the change feed.",
                "type": "integer",
                "format": "int64"
              },
              "confirmedAt": {
                "description": "Since when no server replica accepts the key.",
                "type": "string",
                "format": "date-time"
              }
            }
          },
          "conditions": {
            "description": "Ready, Accepted, ResolvedRefs, SecretDelivered, Enforced, Rotating, StaleConsumers, Leaked, PolicyViolated, BudgetExhausted, Reconciling and Stalled.",
            "type": "array",
            "maxItems": 16,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": [
              "type"
            ],
            "items": {
              "description": "One aspect of the state.",
              "type": "object",
              "required": [
                "type",
                "status",
                "lastTransitionTime",
                "reason",
                "message"
              ],
              "properties": {
                "type": {
                  "description": "The condition's type.",
                  "type": "string",
                  "maxLength": 64
                },
                "status": {
                  "description": "True, False or Unknown.",
                  "type": "string",
                  "enum": [
                    "True",
                    "False",
                    "Unknown"
                  ]
                },
                "observedGeneration": {
                  "description": "The generation that it describes.",
                  "type": "integer",
                  "format": "int64",
                  "minimum": 0
                },
                "lastTransitionTime": {
                  "description": "When the status last changed.",
                  "type": "string",
                  "format": "date-time"
                },
                "reason": {
                  "description": "The reason, one word of the catalogue.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 64,
                  "pattern": "^[A-Za-z]([A-Za-z0-9]*[A-Za-z0-9])?$"
                },
                "message": {
                  "description": "The cause and the remedy, for people.",
                  "type": "string",
                  "maxLength": 4096
                }
              }
            }
          }
        }
      }
    }
  },
  "PlatformTeam": {
    "description": "A team: its namespaces, and the people and machines that may manage its keys by the management API.",
    "type": "object",
    "required": [
      "spec"
    ],
    "properties": {
      "apiVersion": {
        "description": "Always keyplane.dev/v1alpha1.",
        "type": "string"
      },
      "kind": {
        "description": "Always PlatformTeam.",
        "type": "string"
      },
      "metadata": {
        "type": "object",
        "properties": {
          "name": {
            "description": "The team's name, at most 63 characters.",
            "type": "string",
            "maxLength": 63,
            "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
          }
        }
      },
      "spec": {
        "description": "What the team is to be.",
        "type": "object",
        "x-kubernetes-validations": [
          {
            "rule": "!has(self.mcpAgentPolicy) || !has(self.mcpAgentPolicy.defaultLibraryRef) || self.namespaces.exists(n, n == self.mcpAgentPolicy.defaultLibraryRef.__namespace__)",
            "message": "the default library must be in a namespace of the team: add its namespace to namespaces, or name a library in one of them",
            "fieldPath": ".mcpAgentPolicy.defaultLibraryRef"
          },
          {
            "rule": "self.webhooks.all(w, self.namespaces.exists(n, n == w.secretRef.__namespace__))",
            "message": "a webhook's signing secret must be in a namespace of the team: add its namespace to namespaces, or name a Secret in one of them",
            "fieldPath": ".webhooks"
          }
        ],
        "properties": {
          "displayName": {
            "description": "The name shown in lists; default: the object's name.",
            "type": "string",
            "minLength": 1,
            "maxLength": 128,
            "pattern": "^[^\\x00]*$",
            "x-kubernetes-validations": [
              {
                "rule": "!self.matches(\"[\\u202a-\\u202e\\u2066-\\u2069]\")",
                "message": "must not hold U+202A to U+202E or U+2066 to U+2069, which turn the direction of text: leave them out"
              }
            ]
          },
          "namespaces": {
            "description": "The team's namespaces. A namespace belongs to at most one team: the one that holds it, or else the oldest that claims it. The cluster's and Keyplane's own belong to none.",
            "type": "array",
            "maxItems": 256,
            "x-kubernetes-list-type": "set",
            "default": [],
            "items": {
              "description": "A namespace.",
              "type": "string",
              "minLength": 1,
              "maxLength": 63,
              "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
              "x-kubernetes-validations": [
                {
                  "rule": "!(self in ['kube-system', 'kube-public', 'kube-node-lease'])",
                  "message": "is one of kube-system, kube-public and kube-node-lease, which are the cluster's own: remove it"
                }
              ]
            }
          },
          "members": {
            "description": "The team's members, each by exactly one of OIDC subject, OIDC group and Kubernetes ServiceAccount.",
            "type": "array",
            "maxItems": 256,
            "x-kubernetes-list-type": "atomic",
            "default": [],
            "items": {
              "description": "One member, or all members of a group.",
              "type": "object",
              "required": [
                "role"
              ],
              "x-kubernetes-validations": [
                {
                  "rule": "[has(self.subject), has(self.group), has(self.serviceAccount)].exists_one(x, x)",
                  "message": "a member is named in one way: write exactly one of subject, group and serviceAccount"
                }
              ],
              "properties": {
                "role": {
                  "description": "admin and member view, create and revoke keys; viewer only views them.",
                  "type": "string",
                  "enum": [
                    "admin",
                    "member",
                    "viewer"
                  ]
                },
                "subject": {
                  "description": "The subject of an OIDC token.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 256,
                  "pattern": "^[^\\x00]*$"
                },
                "group": {
                  "description": "A group of an OIDC token.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 256,
                  "pattern": "^[^\\x00]*$"
                },
                "serviceAccount": {
                  "description": "A Kubernetes ServiceAccount.",
                  "type": "object",
                  "required": [
                    "namespace",
                    "name"
                  ],
                  "x-kubernetes-map-type": "atomic",
                  "properties": {
                    "namespace": {
                      "description": "Its namespace.",
                      "type": "string",
                      "minLength": 1,
                      "maxLength": 63,
                      "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
                    },
                    "name": {
                      "description": "Its name.",
                      "type": "string",
                      "maxLength": 253,
                      "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
                    }
                  }
                },
                "libraryRefs": {
                  "description": "The libraries that the member's tokens may use over MCP; default: all of the team. A missing one grants nothing. Of several entries for a person, those with the strongest role apply.",
                  "type": "array",
                  "minItems": 1,
                  "maxItems": 64,
                  "x-kubernetes-list-type": "atomic",
                  "items": {
                    "description": "One library.",
                    "type": "object",
                    "required": [
                      "namespace",
                      "name"
                    ],
                    "x-kubernetes-map-type": "atomic",
                    "properties": {
                      "namespace": {
                        "description": "The MemoryLibrary's namespace, one of the team's.",
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 63,
                        "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
                      },
                      "name": {
                        "description": "The MemoryLibrary's name.",
                        "type": "string",
                        "maxLength": 63,
                        "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
                      }
                    }
                  }
                }
              }
            }
          },
          "mcpAgentPolicy": {
            "description": "Defaults for MCP clients whose key has none.",
            "type": "object",
            "properties": {
              "defaultLibraryRef": {
                "description": "The library when neither the call nor the key names one.",
                "type": "object",
                "required": [
                  "namespace",
                  "name"
                ],
                "x-kubernetes-map-type": "atomic",
                "properties": {
                  "namespace": {
                    "description": "The MemoryLibrary's namespace, one of the team's.",
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 63,
                    "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
                  },
                  "name": {
                    "description": "The MemoryLibrary's name.",
                    "type": "string",
                    "maxLength": 63,
                    "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
                  }
                }
              }
            }
          },
          "allowedCIDRs": {
            "description": "The IPv4 and IPv6 networks that the team's keys, and its members' tokens over MCP, may be used from; default: any. A key's own list applies too. It does not restrict console sign-in or the management API.",
            "type": "array",
            "minItems": 1,
            "maxItems": 32,
            "x-kubernetes-list-type": "set",
            "items": {
              "description": "A network, such as 203.0.113.0/24 or 2001:db8::/32, or one address, such as 203.0.113.7/32.",
              "type": "string",
              "maxLength": 64,
              "format": "cidr"
            }
          },
          "budgets": {
            "description": "The tokens or cost of the model calls of all the team's keys and libraries per day, week, month or in total; checked and counted as a key's budgets. A team that is declared again continues its count.",
            "type": "array",
            "maxItems": 8,
            "x-kubernetes-list-type": "atomic",
            "x-kubernetes-validations": [
              {
                "rule": "self.all(a, self.exists_one(b, b.period == a.period && has(b.cost) == has(a.cost)))",
                "message": "budgets has two of one period: keep the one that is meant"
              }
            ],
            "items": {
              "description": "What may be used in each period.",
              "type": "object",
              "required": [
                "period"
              ],
              "x-kubernetes-validations": [
                {
                  "rule": "has(self.tokens) != has(self.cost)",
                  "message": "a budget is of tokens or of cost: write one of the two"
                },
                {
                  "rule": "has(self.cost) == has(self.currency)",
                  "message": "cost and currency belong together: write both, such as cost: \"250.00\" and currency: USD"
                },
                {
                  "rule": "!has(self.cost) || self.cost.matches('[1-9]')",
                  "message": "cost must be more than nothing"
                },
                {
                  "rule": "!has(self.timeZone) || (self.timeZone != 'Local' && self.timeZone.matches('^[A-Z][^/]*(/[A-Z][^/]*)*$') && timestamp('2026-01-01T00:00:00Z').getHours(self.timeZone) >= 0)",
                  "message": "timeZone is none that is known: write an IANA name, such as Europe/Berlin, or remove it for UTC"
                }
              ],
              "properties": {
                "tokens": {
                  "description": "The tokens per period, as answers report them.",
                  "type": "integer",
                  "format": "int64",
                  "minimum": 1,
                  "maximum": 1000000000000
                },
                "cost": {
                  "description": "The cost per period by the servers' price list, such as \"250.00\", as text.",
                  "type": "string",
                  "maxLength": 14,
                  "pattern": "^[0-9]{1,7}(\\.[0-9]{1,6})?$"
                },
                "currency": {
                  "description": "The ISO 4217 currency of cost, that of the servers' price list.",
                  "type": "string",
                  "maxLength": 3,
                  "pattern": "^[A-Z]{3}$"
                },
                "period": {
                  "description": "When the budget resets: each Day, Week (on Monday) or Month (on its first day); Total: never.",
                  "type": "string",
                  "enum": [
                    "Day",
                    "Week",
                    "Month",
                    "Total"
                  ]
                },
                "timeZone": {
                  "description": "The IANA time zone of the period, such as Europe/Berlin.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 64,
                  "pattern": "^[A-Za-z][A-Za-z0-9_+/-]*$",
                  "default": "UTC"
                },
                "onExhausted": {
                  "description": "Refuse: calls without room are answered 429 budget_exceeded. Alert: they pass and are counted.",
                  "type": "string",
                  "enum": [
                    "Refuse",
                    "Alert"
                  ],
                  "default": "Refuse"
                }
              }
            }
          },
          "rateLimit": {
            "description": "The limits of all the team's keys together, with its members' tokens over MCP and its libraries' model calls; default: unlimited. A key's own limits apply too.",
            "type": "object",
            "x-kubernetes-validations": [
              {
                "rule": "has(self.requestsPerMinute) || has(self.tokensPerMinute) || has(self.concurrent)",
                "message": "rateLimit limits nothing: write requestsPerMinute, tokensPerMinute, concurrent or several of them"
              },
              {
                "rule": "!has(self.burst) || has(self.requestsPerMinute)",
                "message": "burst belongs to a rate: write requestsPerMinute beside it, or remove burst"
              },
              {
                "rule": "!has(self.scope) || has(self.requestsPerMinute) || has(self.tokensPerMinute)",
                "message": "scope belongs to a rate: write requestsPerMinute or tokensPerMinute beside it, or remove scope"
              }
            ],
            "properties": {
              "requestsPerMinute": {
                "description": "The sustained requests per minute; default: unlimited.",
                "type": "integer",
                "format": "int32",
                "minimum": 1,
                "maximum": 1000000
              },
              "burst": {
                "description": "Requests at once; default: a minute's worth.",
                "type": "integer",
                "format": "int32",
                "minimum": 1,
                "maximum": 1000000
              },
              "tokensPerMinute": {
                "description": "The tokens of model calls per minute, sustained and at once; default: unlimited. A call reserves what it is expected to use and is charged what its answer reports.",
                "type": "integer",
                "format": "int32",
                "minimum": 1,
                "maximum": 100000000
              },
              "scope": {
                "description": "Who counts requests and tokens: Installation, all server replicas together; Replica (default), each by itself.",
                "type": "string",
                "enum": [
                  "Replica",
                  "Installation"
                ]
              },
              "concurrent": {
                "description": "Concurrent calls per replica, streams included; default: unlimited.",
                "type": "integer",
                "format": "int32",
                "minimum": 1,
                "maximum": 10000
              }
            }
          },
          "leaks": {
            "description": "What happens to a key that is reported as leaked.",
            "type": "object",
            "properties": {
              "action": {
                "description": "Alert records it and sets a condition of the key; Revoke also ends the key at once. If an old version has leaked beside a newer one, only the old one ends.",
                "type": "string",
                "enum": [
                  "Revoke",
                  "Alert"
                ],
                "default": "Alert"
              }
            }
          },
          "webhooks": {
            "description": "Receivers of events of the team's keys, as a signed POST (Standard Webhooks).",
            "type": "array",
            "maxItems": 5,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": [
              "url"
            ],
            "default": [],
            "items": {
              "description": "One receiver.",
              "type": "object",
              "required": [
                "url",
                "events",
                "secretRef"
              ],
              "properties": {
                "url": {
                  "description": "The https URL that receives events. Private addresses are refused unless the installation allows them as upstreams; only these may use http. Redirects are not followed.",
                  "type": "string",
                  "maxLength": 512,
                  "pattern": "^https?://([^\\s\\x00/?#@:<>\\[\\]\\\\^|%]+|\\[[0-9A-Fa-f:.]+\\])(:([0-5]?[0-9]{0,4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?(/[^\\s\\x00?#]*)?$"
                },
                "events": {
                  "description": "The events to post.",
                  "type": "array",
                  "minItems": 1,
                  "maxItems": 7,
                  "x-kubernetes-list-type": "set",
                  "items": {
                    "description": "key.expiring: a key ends within 7 days. key.rotated: a new version took over. key.consumer_late: a client still uses an old version. key.revoked: with its receipt. key.leaked: a key was reported as leaked. key.budget_reached and team.budget_reached: 50, 80 or 100 % of a budget are used.",
                    "type": "string",
                    "enum": [
                      "key.expiring",
                      "key.rotated",
                      "key.consumer_late",
                      "key.revoked",
                      "key.leaked",
                      "key.budget_reached",
                      "team.budget_reached"
                    ]
                  }
                },
                "secretRef": {
                  "description": "The Secret that signs events: `whsec_` and 24 to 64 random bytes in base64; during a change, two of these with a space between.",
                  "type": "object",
                  "required": [
                    "namespace",
                    "name"
                  ],
                  "x-kubernetes-map-type": "atomic",
                  "properties": {
                    "namespace": {
                      "description": "The Secret's namespace, one of the team's.",
                      "type": "string",
                      "minLength": 1,
                      "maxLength": 63,
                      "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
                    },
                    "name": {
                      "description": "The Secret's name.",
                      "type": "string",
                      "maxLength": 253,
                      "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
                    },
                    "key": {
                      "description": "The data key in it.",
                      "type": "string",
                      "maxLength": 253,
                      "pattern": "^([-_a-zA-Z0-9]|\\.[-_a-zA-Z0-9])[-._a-zA-Z0-9]*$",
                      "default": "secret"
                    }
                  }
                }
              }
            }
          }
        }
      },
      "status": {
        "description": "What the team is. Written by Keyplane alone.",
        "type": "object",
        "default": {
          "observedGeneration": -1,
          "conditions": [
            {
              "type": "Ready",
              "status": "Unknown",
              "reason": "Pending",
              "message": "No controller has reconciled this yet. See that a Keyplane controller runs.",
              "lastTransitionTime": "1970-01-01T00:00:00Z"
            }
          ]
        },
        "properties": {
          "observedGeneration": {
            "description": "The generation that this status describes.",
            "type": "integer",
            "format": "int64"
          },
          "controllerName": {
            "description": "The Lease, as namespace/name, of the one controller that writes this status.",
            "type": "string",
            "maxLength": 317
          },
          "teamID": {
            "description": "The team's permanent id.",
            "type": "string",
            "maxLength": 64
          },
          "namespaces": {
            "description": "The namespaces that the team holds.",
            "type": "array",
            "maxItems": 256,
            "x-kubernetes-list-type": "set",
            "items": {
              "description": "A namespace.",
              "type": "string",
              "maxLength": 63
            }
          },
          "conditions": {
            "description": "Ready, Accepted, ResolvedRefs, BudgetExhausted, Reconciling and Stalled.",
            "type": "array",
            "maxItems": 16,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": [
              "type"
            ],
            "items": {
              "description": "One aspect of the state.",
              "type": "object",
              "required": [
                "type",
                "status",
                "lastTransitionTime",
                "reason",
                "message"
              ],
              "properties": {
                "type": {
                  "description": "The condition's type.",
                  "type": "string",
                  "maxLength": 64
                },
                "status": {
                  "description": "True, False or Unknown.",
                  "type": "string",
                  "enum": [
                    "True",
                    "False",
                    "Unknown"
                  ]
                },
                "observedGeneration": {
                  "description": "The generation that it describes.",
                  "type": "integer",
                  "format": "int64",
                  "minimum": 0
                },
                "lastTransitionTime": {
                  "description": "When the status last changed.",
                  "type": "string",
                  "format": "date-time"
                },
                "reason": {
                  "description": "The reason, one word of the catalogue.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 64,
                  "pattern": "^[A-Za-z]([A-Za-z0-9]*[A-Za-z0-9])?$"
                },
                "message": {
                  "description": "The cause and the remedy, for people.",
                  "type": "string",
                  "maxLength": 4096
                }
              }
            }
          }
        }
      }
    }
  }
};
