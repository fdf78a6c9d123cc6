import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { TextAnswer } from '../api/text-answer.ts';
import { emptySnapshot } from '../draft/snapshot.ts';
import { personalKinds } from '../../shared/routing/personal-data/personal-kinds.ts';
import { readPersonalKinds } from './personal-kinds-found.ts';
import { compareReports, privacyReport, reportCsv, treatments } from './privacy-report.ts';
import type { ReportRow } from './privacy-report.ts';
import { findPreviousVersion, requireVersion, versionContent } from './version-store.ts';

const row = Type.Object({
  event: Type.String({
    description:
      '`*`: every event that the destination gets and that has no row of its own. `$*`: every such event of the service.',
  }),
  property: Type.String({
    description: "`*`: every property without a row of its own. `$event`: the event's name, if a mapping fills it in.",
  }),
  destinationId: Type.String(),
  destination: Type.String(),
  type: Type.String(),
  treatment: Type.Enum([...treatments], { description: 'reduced: cut or replaced, such as an IP address or a URL.' }),
  by: nullable(Type.String({ description: 'The modification, mapping, rule or list that decides; null: none.' })),
  isConditional: Type.Boolean({ description: 'Whether the treatment depends on the condition of a mapping.' }),
  personal: nullable(
    Type.Enum([...personalKinds], {
      description:
        'The kind of personal data that the property, or one that its mapping reads, looks like in a sample of received events; null: none.',
    }),
  ),
  purposes: Type.Array(Type.String()),
  onOptOut: Type.Enum(['stop', 'limitedUse'], {
    description: 'The outcome of events of visitors who opted out by a signal.',
  }),
  consentRule: Type.Enum(['all', 'any'], { description: 'Which of the purposes the visitor must allow.' }),
  regions: Type.Array(Type.String(), {
    description: 'Regions in which the defaults of the purposes apply; empty: everywhere.',
  }),
  destinationRegion: nullable(Type.String({ description: 'The region that the settings of the destination name.' })),
});

const view = ({ by, personal, destinationRegion, purposes, regions, ...rest }: ReportRow) => ({
  ...rest,
  by: by ?? null,
  personal: personalKinds.find((kind) => kind === personal) ?? null,
  purposes: [...purposes],
  regions: [...regions],
  destinationRegion: destinationRegion ?? null,
});

export const privacyReportEndpoint = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/versions/{id}/privacy-report',
  scope: 'version:find',
  id: 'getPrivacyReport',
  tag: 'Versions',
  summary:
    'The data that a version sends to each destination: each property of each event at each enabled destination, how it is changed, for which ' +
    'purposes and in which regions, and the changes since the previous version. Derived from rules and from the names of properties that look personal. `format=csv` answers text/csv',
  query: Type.Object({
    against: Type.Optional(
      Type.String({ format: 'uuid', description: 'The version to compare with. Default: the previous version.' }),
    ),
    format: Type.Optional(Type.Enum(['json', 'csv'])),
  }),
  reply: Type.Object({
    versionNumber: Type.Integer({ minimum: 1 }),
    against: nullable(
      Type.Integer({
        minimum: 1,
        description: 'Number of the version compared with; null: the version is the first one.',
      }),
    ),
    rows: Type.Array(row, { description: 'At most 20,000.' }),
    added: Type.Array(row),
    removed: Type.Array(row),
  }),
  async handle({ params, query, principal }, { storage, pool }) {
    const em = storage.fork();
    const { accountId } = principal;
    const version = await requireVersion(em, accountId, params.id);
    const against =
      query.against === undefined
        ? await findPreviousVersion(em, version)
        : await requireVersion(em, accountId, query.against);
    const content = (await versionContent(em, accountId, version.id)) ?? emptySnapshot;
    const before = (against && (await versionContent(em, accountId, against.id))) ?? emptySnapshot;
    const seen = await readPersonalKinds(pool, accountId);
    const rows = privacyReport(content, seen);
    const changes = compareReports(privacyReport(before, seen), rows);
    if (query.format === 'csv') return new TextAnswer('text/csv; charset=utf-8', reportCsv(rows, changes));
    return {
      versionNumber: version.versionNumber,
      against: against?.versionNumber ?? null,
      rows: rows.map(view),
      added: changes.added.map(view),
      removed: changes.removed.map(view),
    };
  },
});
