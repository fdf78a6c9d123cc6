import type { Replies } from './replies.ts';

// Names of the replies of the configuration API. The types are generated from its OpenAPI document.

type Of<Id extends keyof Replies> = Replies[Id];
type OneOf<List extends { readonly entities: readonly unknown[] }> = List['entities'][number];

export type Page<Entity> = {
  readonly entities: readonly Entity[];
  readonly pagination: Of<'listVersions'>['pagination'];
};

export type JsonObject = Readonly<Record<string, unknown>>;

export type SignedIn = Of<'getMe'>;
export type Account = Of<'getAccount'>;

export type Activity = Of<'getActivity'>;
export type ActivityRange = Activity['range'];
export type ActivityDestination = Activity['destinations'][number];
export type DestinationActivityPage = Of<'listDestinationActivity'>;
export type DestinationSummary = OneOf<DestinationActivityPage>;
export type ActivitySource = Activity['sources'][number];
export type Problem = Activity['problems'][number];

export type Health = Of<'getDestinationHealth'>;
export type HealthStatus = Health['status'];
export type HealthSeries = Of<'getDestinationHealthSeries'>;
export type Backlog = Of<'getDestinationBacklog'>;
export type Delivery = Of<'getDestinationDelivery'>;
export type Funnel = Delivery['total'];
export type Connections = Of<'listConnections'>;
export type Connection = OneOf<Connections>;
export type Sending = Of<'getDestinationSending'>;
export type Failure = OneOf<Of<'listDestinationFailures'>>;

export type Destination = Of<'getDestination'>;
export type DestinationType = OneOf<Of<'listDestinationTypes'>>;
export type CheckedToken = Of<'checkSourceToken'>;
export type UnavailableKind = OneOf<Of<'listUnavailableDestinationTypes'>>;
export type SettingDescriptor = DestinationType['settings'][number];
export type StandardEvent = OneOf<Of<'listDestinationStandardEvents'>>;
export type DestinationTestResult = Of<'testDestination'>;
export type ShownRequest = NonNullable<DestinationTestResult['request']>;
export type DeadLetter = OneOf<Of<'listDeadLetters'>>;
export type DeadLetterDetail = Of<'getDeadLetter'>;
export type Exchange = NonNullable<DeadLetterDetail['exchange']>;
export type PlatformError = NonNullable<DeadLetter['error']>;
export type Replay = Of<'getReplay'>;

export type RecentEvent = Of<'getEvent'>;
export type OutcomeName = RecentEvent['outcomes'][number]['outcome'];
export type LogSearch = Of<'searchLog'>;
export type LogSearchEvent = LogSearch['events'][number];
export type EventCounts = Of<'countEvents'>;
export type EventSummary = Of<'summarizeEvents'>;
export type EventView = OneOf<Of<'listEventViews'>>;
export type EventExchange = OneOf<Of<'listEventExchanges'>>;
export type RuleMatches = Of<'matchRecentEvents'>;
export type VersionImpact = Of<'getVersionImpact'>;
export type Approval = OneOf<Of<'listApprovals'>>;
export type Publication = OneOf<Of<'listPublications'>>;
export type Way = Of<'getEventWays'>['ways'][number];

export type Violations = Of<'listViolations'>;
export type PersonalFinding = OneOf<Of<'listPersonalData'>>;
export type PlanTrialResult = Of<'tryTrackingPlan'>;
export type QuarantinedEvent = OneOf<Of<'listQuarantine'>>;

export type Source = Of<'getSource'>;
export type SourceType = OneOf<Of<'listSourceTypes'>>;
export type Tokens = Of<'getSourceTokens'>;
export type AuditEntry = OneOf<Of<'listAudit'>>;
export type ApiKey = OneOf<Of<'listKeys'>>;
export type User = OneOf<Of<'listUsers'>>;
export type Role = OneOf<Of<'listRoles'>>;
export type SignInLink = Of<'createSignInLink'>;
export type Visitor = Of<'getVisitor'>;
export type VisitorMerge = OneOf<Of<'listVisitorMerges'>>;
export type IdentityCounts = Of<'listIdentityCounts'>;
export type Erasure = Of<'getErasure'>;
export type ErasureTarget = Erasure['destinations'][number];
export type ListedErasure = OneOf<Of<'listErasures'>>;

export type Version = Of<'getVersion'>;
export type PublishedVersion = Of<'publishVersion'>;
export type Changes = Of<'getVersionChanges'>;
export type Change = Changes['changes'][number];
export type PrivacyReport = Of<'getPrivacyReport'>;
export type BacklogLeft = OneOf<Of<'getVersionBacklogs'>>;
export type Rollout = Of<'getVersionRollout'>;

export type FoundEntity = Of<'search'>['entities'][number];
export type SystemProcesses = Of<'listProcesses'>;
export type Partition = OneOf<Of<'listPartitions'>>;
export type PipelineWork = OneOf<Of<'listWork'>>;
export type Alerts = Of<'listAlerts'>;
export type Finding = OneOf<Of<'listFindings'>>;
