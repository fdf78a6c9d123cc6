/** What the configuration interface answers, as its OpenAPI document says. Times are ISO 8601 unless they say ms. */

export type SignedIn = {
  readonly accountId: string;
  readonly accountName: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly scopes: readonly string[];
};

export type Page<Entity> = {
  readonly entities: readonly Entity[];
  readonly pagination: { readonly nextCursor: string | null; readonly hasMore: boolean };
};

export type HealthStatus = 'HEALTHY' | 'DEGRADED' | 'UNHEALTHY' | 'NO_DATA';

export type Health = {
  readonly status: HealthStatus;
  readonly totalDispatches: number;
  readonly successCount: number;
  readonly failureCount: number;
  readonly stoppedCount: number;
  readonly globalStopCount: number;
  readonly successRate: number | null;
  readonly lastDispatchedAt: string | null;
};

export type Backlog = { readonly waitingFrames: number; readonly retryingFrames: number; readonly deadLetters: number };

export type OutcomeCounts = {
  readonly succeeded: number;
  readonly failed: number;
  readonly stopped: number;
  readonly blocked: number;
};

export type ActivityDestination = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly status: string;
  readonly isLive: boolean;
  readonly health: Health;
  readonly lately: OutcomeCounts;
  readonly inRange: OutcomeCounts;
  readonly succeeded: readonly number[];
  readonly failed: readonly number[];
  readonly backlog: Backlog;
};

export type ActivitySource = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly isLive: boolean;
  readonly events: readonly number[];
  readonly total: number;
  readonly testTotal: number;
  readonly lastTriggeredAt: string | null;
};

export type Problem = {
  readonly level: 'bad' | 'warn';
  readonly kind: 'destination' | 'source' | 'resolver' | 'process';
  readonly id: string | null;
  readonly name: string;
  readonly text: string;
};

export type ActivityRange = '15m' | '24h';

export type Activity = {
  readonly range: ActivityRange;
  readonly firstStepAt: string;
  readonly stepMs: number;
  readonly steps: number;
  readonly problems: readonly Problem[];
  readonly sources: readonly ActivitySource[];
  readonly destinations: readonly ActivityDestination[];
  readonly unresolvedFrames: number;
  readonly oldestUnresolvedMs: number | null;
  readonly gateways: number;
  readonly pipelines: number;
  readonly live: Version | null;
  readonly draftChanges: number;
};

export type Version = {
  readonly id: string;
  readonly name: string;
  readonly versionNumber: number;
  readonly isPublished: boolean;
  readonly notes: string | null;
  readonly createdAt: string;
  readonly publishedAt: string | null;
  readonly publishedByUserName: string | null;
};

export type JsonObject = Readonly<Record<string, unknown>>;

export type Destination = {
  readonly id: string;
  readonly name: string | null;
  readonly type: string;
  readonly status: 'Enabled' | 'Disabled';
  readonly createdAt: string;
  readonly updatedAt: string | null;
  readonly settings: JsonObject | null;
  readonly limitedToSourceIds: readonly string[] | null;
  readonly hashingSalt: string | null;
};

export type SettingDescriptor = {
  readonly key: string;
  readonly type: 'Alert' | 'Select' | 'Switch' | 'GenericOauth' | 'Text' | 'Secret';
  readonly label: string;
  readonly sublabel?: string | null;
  readonly required?: boolean | null;
  readonly placeholder?: string;
  readonly defaultValue?: string | boolean | null;
  readonly options?: readonly { readonly label: string; readonly value: string }[];
};

export type DestinationType = {
  readonly id: string;
  readonly label: string;
  readonly status: 'deprecated' | 'ga';
  readonly settings: readonly SettingDescriptor[];
};

export type HealthSeries = {
  readonly stepMinutes: number;
  readonly steps: readonly (OutcomeCounts & { readonly at: number })[];
};

export type Failure = {
  readonly reason: string;
  readonly outcome: 'retrying' | 'rejected';
  readonly events: number;
  readonly lastAt: string;
  readonly lastEventId: string;
};

export type ShownRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};

export type DestinationTestResult = {
  readonly outcome: 'delivered' | 'retry' | 'reject' | 'skipped';
  readonly reason: string | null;
  readonly durationMs: number | null;
  readonly request: ShownRequest | null;
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  } | null;
};

export type DeadLetter = {
  readonly seq: number;
  readonly event: { readonly id: string; readonly name: string; readonly time: number; readonly visitorId: string };
  readonly reason: string;
  readonly attempts: number;
  readonly lastAttemptAt: string;
};

export type Replay = {
  readonly id: string;
  readonly what: 'dead-letters' | 'log';
  readonly reason: string | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly status: 'waiting' | 'running' | 'cancelling' | 'cancelled' | 'done';
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly queued: number;
  readonly share: number;
};

export type OutcomeName = 'delivered' | 'retrying' | 'rejected' | 'stopped' | 'globalStop';

export type RecentEvent = {
  readonly id: string;
  readonly event: string;
  /** Ms since the epoch. */
  readonly time: number;
  readonly receivedAt: string;
  readonly sourceId: string;
  readonly visitorId: string;
  readonly test: boolean;
  readonly versionNumber: number | null;
  readonly eventProperties: JsonObject;
  readonly context: JsonObject;
  readonly visitor: JsonObject;
  readonly truncated: boolean;
  readonly outcomes: readonly {
    readonly destinationId: string;
    readonly outcome: OutcomeName;
    readonly reason: string | null;
    readonly attempts: number;
    readonly at: string;
  }[];
};

export type Way = {
  readonly destinationId: string;
  readonly name: string;
  readonly type: string;
  readonly decision: 'send' | 'skip' | 'stop' | 'globalStop' | 'broken';
  readonly why: string;
  readonly ruleId: string | null;
  readonly eventName: string | null;
  readonly properties: JsonObject | null;
  readonly request: ShownRequest | null;
};

export type Source = {
  readonly id: string;
  readonly name: string | null;
  readonly type: string;
  readonly status: 'Enabled' | 'Disabled';
  readonly createdAt: string;
  readonly isPublished: boolean | null;
  readonly lastTriggeredAt: string | null;
  readonly lastDispatchedAt: string | null;
};

export type Tokens = { readonly token: string; readonly testToken: string };

export type ApiKey = {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly string[];
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
};

export type Change = {
  readonly collection: string;
  readonly id: string;
  readonly name: string;
  readonly change: 'added' | 'modified' | 'removed';
  readonly fields: readonly { readonly path: string; readonly old?: unknown; readonly new?: unknown }[];
};

export type Visitor = {
  readonly id: string;
  readonly properties: JsonObject;
  readonly externalIds: readonly string[];
  readonly emails: readonly string[];
  readonly aliases: readonly string[];
  readonly recentEventCount: number;
  readonly createdAt: string;
  readonly updatedAt: string;
};

export type SystemProcess = {
  readonly kind: string;
  readonly instanceId: string;
  readonly startedAt: string;
  readonly revision: number;
  readonly isLeaving: boolean;
  readonly heardMsAgo: number;
};

export type Partition = {
  readonly partition: number;
  readonly waitingFrames: number;
  readonly oldestMs: number | null;
};

export type Finding = {
  readonly level: 'ok' | 'warn' | 'fail';
  readonly about: string;
  readonly detail: string;
  readonly advice: string | null;
};
