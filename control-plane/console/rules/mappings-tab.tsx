import { useEffect } from 'react';
import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useList } from '../api/queries.ts';
import { useNameOf } from '../api/use-name-of.ts';
import type { Named } from '../api/use-name-of.ts';
import { State, Waiting } from '../design/feedback.tsx';
import { Card, Empty } from '../design/page.tsx';
import { More, Table } from '../design/table.tsx';
import { readLogic, sayLogic } from './logic.ts';
import type { Kept, MappingFields } from './rule.ts';

type Mapping = Kept<MappingFields>;

/** The mappings of each destination, in the order in which they are tried. */
export function MappingsTab(): ReactElement {
  const query = useList<Mapping>('/collections/mappings?limit=100');
  const mayCreate = useScope('mappings:create');
  const nameOf = useDestinationNames(query.entities.map(({ destinationId }) => destinationId));
  const rows = query.entities.toSorted(
    (a, b) =>
      nameOf(a.destinationId).localeCompare(nameOf(b.destinationId)) ||
      a.destinationId.localeCompare(b.destinationId) ||
      a.priority - b.priority ||
      (a.id < b.id ? -1 : 1),
  );
  return (
    <Card
      title="Mappings"
      isFlush
      aside={
        mayCreate ? (
          <Link className="button" to="/rules/new-mapping">
            Add a mapping
          </Link>
        ) : null
      }
    >
      <p className="soft body">
        For each destination, the first matching mapping decides. Without a match, the destination's default applies.
      </p>
      <Waiting query={query} />
      {query.isSuccess && rows.length === 0 ? (
        <Empty title="No mappings yet.">
          <p>Add one to rename events for a destination, choose the properties it receives, or stop events.</p>
        </Empty>
      ) : null}
      {rows.length === 0 ? null : (
        <Table
          label="Mappings"
          rows={rows}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Mapping',
              cell: ({ id, name, destinationId }) => (
                <div className="stack tight">
                  <Link className="clip short" dir="auto" to={`/rules/mappings/${id}`}>
                    {name ?? id}
                  </Link>
                  <span className="clip short hint" dir="auto">
                    {nameOf(destinationId)}
                  </span>
                </div>
              ),
            },
            { title: 'Action', cell: (mapping) => <Does mapping={mapping} /> },
            {
              title: 'Applies to',
              cell: ({ logic }) => (
                <span className="clip" dir="auto">
                  {sayApplies(logic)}
                </span>
              ),
            },
            { title: 'Priority', isNumber: true, cell: ({ priority }) => priority },
          ]}
        />
      )}
      <More query={query} />
    </Card>
  );
}

/** Maximum number of destinations whose names the list of mappings reads. */
const namedMax = 1_000;

/**
 * Returns a function for destination names. It reads pages until all `ids` are found, but at most `namedMax` entries.
 */
function useDestinationNames(ids: readonly string[]): (id: string) => string {
  const { entities, hasNextPage, isFetchingNextPage, fetchNextPage } = useList<Named>('/destinations?limit=100');
  const nameOf = useNameOf('destinations', entities);
  const byId = new Map(entities.map((one) => [one.id, one]));
  const lacks = ids.some((id) => !byId.has(id)) && hasNextPage && entities.length < namedMax;
  useEffect(() => {
    if (lacks && !isFetchingNextPage) void fetchNextPage();
  }, [lacks, isFetchingNextPage]);
  return (id) => {
    const found = byId.get(id);
    return found === undefined ? id : nameOf(found);
  };
}

function Does({ mapping: { isEnabled, action, eventName, mappings } }: { readonly mapping: Mapping }): ReactElement {
  if (!isEnabled) return <State tone="off">Off</State>;
  if (action === 'stop') return <State tone="warn">Stops</State>;
  const told = mappings.length === 1 ? '1 property' : `${mappings.length} properties`;
  return (
    <div className="stack tight">
      <State tone="good">Sends</State>
      <span className="hint" dir="auto">
        {eventName === null ? '' : `as ${eventName}, `}
        {mappings.length === 0 ? 'with its own properties' : told}
      </span>
    </div>
  );
}

/** Says in words to which events a rule applies. */
export function sayApplies(logic: MappingFields['logic']): string {
  const read = logic === null ? undefined : readLogic(logic);
  return read === undefined ? 'every event' : sayLogic(read);
}
