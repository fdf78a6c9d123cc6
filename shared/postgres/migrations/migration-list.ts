import type { MigrationObject } from '@mikro-orm/core';
import { CreateConfigurationTables } from './0001-create-configuration-tables.ts';
import { CreateVisitorTables } from './0002-create-visitor-tables.ts';
import { NumberVisitorWrites } from './0003-number-visitor-writes.ts';
import { CreateRecentEventTables } from './0004-create-recent-event-tables.ts';
import { CreateExperimentAssignments } from './0005-create-experiment-assignments.ts';
import { CreateExperimentVisitors } from './0006-create-experiment-visitors.ts';
import { CreateDeployment } from './0007-create-deployment.ts';
import { CreateSignInLinks } from './0008-create-sign-in-links.ts';
import { PublishOnCreate } from './0009-publish-on-create.ts';
import { TellAccountsAreLarge } from './0010-tell-accounts-are-large.ts';
import { NoteVisitorChanges } from './0011-note-visitor-changes.ts';
import { CreateRecentPlaces } from './0012-create-recent-places.ts';
import { IndexSignedInDevices } from './0014-index-signed-in-devices.ts';
import { KeepPeopleApart } from './0014-keep-people-apart.ts';
import { CreateErasures } from './0015-create-erasures.ts';
import { CreateSessions } from './0016-create-sessions.ts';
import { TellRecentEventsApart } from './0017-tell-recent-events-apart.ts';
import { KeyRecentEventsByOrigin } from './0018-key-recent-events-by-origin.ts';
import { IndexJoinedAliases } from './0019-index-joined-aliases.ts';
import { RecordMerges } from './0019-record-merges.ts';
import { IndexSuppressions } from './0021-index-suppressions.ts';
import { RecordErasures } from './0021-record-erasures.ts';
import { RecordViolations } from './0024-record-violations.ts';
import { MaskPersonalData } from './0029-mask-personal-data.ts';
import { ExplainConsentStops } from './0030-explain-consent-stops.ts';
import { FindPersonalData } from './0031-find-personal-data.ts';
import { NameVersionsOfOutcomes } from './0028-name-versions-of-outcomes.ts';
import { CountIdentity } from './0023-count-identity.ts';
import { TimeProperties } from './0023-time-properties.ts';
import { CreateSourceSecrets } from './0022-create-source-secrets.ts';
import { SetIdentity } from './0022-set-identity.ts';
import { ForwardErasures } from './0026-forward-erasures.ts';
import { IndexAudit } from './0027-index-audit.ts';
import { KeepExchanges } from './0032-keep-exchanges.ts';
import { IndexExchanges } from './0033-index-exchanges.ts';
import { SaveViews } from './0034-save-views.ts';
import { RecordPublications } from './0036-record-publications.ts';
import { CompleteErasures } from './0038-complete-erasures.ts';
import { KeepErasureNotices } from './0039-keep-erasure-notices.ts';
import { CreateUsers } from './0035-create-users.ts';
import { LetKeysReadValues } from './0027-let-keys-read-values.ts';
import { KeySearchedVisitors } from './0037-key-searched-visitors.ts';

export type MigrationList = readonly MigrationObject[];

/**
 * Every migration, oldest first. Listed here and not read from disk, so that sources and builds have the same list. The
 * name of a released migration never changes, because the database stores it.
 *
 * An index on an existing table is created `concurrently`, since writers of a large table would otherwise wait for
 * hours. This needs a migration of its own that is not transactional and may run twice.
 */
export const migrationList: MigrationList = [
  { name: '0001-create-configuration-tables', class: CreateConfigurationTables },
  { name: '0002-create-visitor-tables', class: CreateVisitorTables },
  { name: '0003-number-visitor-writes', class: NumberVisitorWrites },
  { name: '0004-create-recent-event-tables', class: CreateRecentEventTables },
  { name: '0005-create-experiment-assignments', class: CreateExperimentAssignments },
  { name: '0006-create-experiment-visitors', class: CreateExperimentVisitors },
  { name: '0007-create-deployment', class: CreateDeployment },
  { name: '0008-create-sign-in-links', class: CreateSignInLinks },
  { name: '0009-publish-on-create', class: PublishOnCreate },
  { name: '0010-tell-accounts-are-large', class: TellAccountsAreLarge },
  { name: '0011-note-visitor-changes', class: NoteVisitorChanges },
  { name: '0012-create-recent-places', class: CreateRecentPlaces },
  { name: '0014-keep-people-apart', class: KeepPeopleApart },
  { name: '0014-index-signed-in-devices', class: IndexSignedInDevices },
  { name: '0015-create-erasures', class: CreateErasures },
  { name: '0016-create-sessions', class: CreateSessions },
  { name: '0017-tell-recent-events-apart', class: TellRecentEventsApart },
  { name: '0018-key-recent-events-by-origin', class: KeyRecentEventsByOrigin },
  { name: '0019-record-merges', class: RecordMerges },
  { name: '0019-index-joined-aliases', class: IndexJoinedAliases },
  { name: '0021-record-erasures', class: RecordErasures },
  { name: '0021-index-suppressions', class: IndexSuppressions },
  { name: '0024-record-violations', class: RecordViolations },
  { name: '0028-name-versions-of-outcomes', class: NameVersionsOfOutcomes },
  { name: '0022-set-identity', class: SetIdentity },
  { name: '0026-forward-erasures', class: ForwardErasures },
  { name: '0022-create-source-secrets', class: CreateSourceSecrets },
  { name: '0023-time-properties', class: TimeProperties },
  { name: '0023-count-identity', class: CountIdentity },
  { name: '0027-let-keys-read-values', class: LetKeysReadValues },
  { name: '0027-index-audit', class: IndexAudit },
  { name: '0029-mask-personal-data', class: MaskPersonalData },
  { name: '0030-explain-consent-stops', class: ExplainConsentStops },
  { name: '0032-keep-exchanges', class: KeepExchanges },
  { name: '0033-index-exchanges', class: IndexExchanges },
  { name: '0031-find-personal-data', class: FindPersonalData },
  { name: '0034-save-views', class: SaveViews },
  { name: '0036-record-publications', class: RecordPublications },
  { name: '0035-create-users', class: CreateUsers },
  { name: '0037-key-searched-visitors', class: KeySearchedVisitors },
  { name: '0038-complete-erasures', class: CompleteErasures },
  { name: '0039-keep-erasure-notices', class: KeepErasureNotices },
];
