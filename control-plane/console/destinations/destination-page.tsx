import { Suspense, lazy, useState } from 'react';
import type { ReactElement } from 'react';
import { Link, NavLink, Route, Routes, useNavigate, useParams } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Destination, DestinationActivityPage, DestinationSummary } from '../api/types.ts';
import { Confirm } from '../design/confirm.tsx';
import { ErrorNote, Loading, State, Waiting } from '../design/feedback.tsx';
import { NotFound, Page } from '../design/page.tsx';
import { discardUnsavedWork } from '../forms/unsaved.ts';
import { DeadLettersTab } from './dead-letters-tab.tsx';
import { HealthTab } from './health-tab.tsx';
import { TestTab } from './test-tab.tsx';

// Loaded on demand: only this tab needs the chart library.
const DeliveryTab = lazy(async () => ({ default: (await import('./delivery-tab.tsx')).DeliveryTab }));
// Loaded on demand: the form library is larger than the rest of this page.
const SettingsTab = lazy(async () => ({ default: (await import('./settings-tab.tsx')).SettingsTab }));

const tabs = [
  ['', 'Health'],
  ['delivery', 'Delivery'],
  ['settings', 'Settings'],
  ['test', 'Test'],
  ['dead-letters', 'Dead letters and replays'],
] as const;

/** One destination: health, delivery, settings, test, dead letters. */
export function DestinationPage(): ReactElement {
  const { id = '' } = useParams();
  const query = useRead<Destination>(`/destinations/${id}`);
  const destination = query.data;
  const activity = useRead<DestinationActivityPage>(`/activity/destinations?id=${id}`, {
    everyMs: 10_000,
    enabled: useScope('activity:find'),
  });
  const summary = activity.data?.entities[0];
  return (
    <Page
      title={destination === undefined ? 'Destination' : (destination.name ?? summary?.label ?? destination.type)}
      lead={summary?.label ?? destination?.type}
      back={{ to: '/destinations', label: 'Destinations' }}
      actions={destination === undefined ? null : <Actions destination={destination} summary={summary} />}
    >
      <Waiting query={query} />
      {destination === undefined ? null : (
        <>
          <nav className="tabs" aria-label="Sections of this destination">
            {tabs.map(([path, label]) => (
              <NavLink key={path} end to={`/destinations/${id}${path === '' ? '' : `/${path}`}`}>
                {label}
              </NavLink>
            ))}
          </nav>
          <Suspense fallback={<Loading />}>
            <Routes>
              <Route index element={<HealthTab destination={destination} />} />
              <Route path="delivery" element={<DeliveryTab destination={destination} />} />
              <Route path="settings" element={<SettingsTab id={id} />} />
              <Route path="test" element={<TestTab destination={destination} />} />
              <Route path="dead-letters" element={<DeadLettersTab destination={destination} />} />
              <Route path="*" element={<NotFound />} />
            </Routes>
          </Suspense>
        </>
      )}
    </Page>
  );
}

type ActionsProps = { readonly destination: Destination; readonly summary: DestinationSummary | undefined };

/** Whether the destination is live, and whether publishing the draft would change that. */
function LiveState({ destination: { status }, summary }: ActionsProps): ReactElement {
  const isOn = status === 'Enabled';
  if (summary === undefined) return <State tone="off">{isOn ? 'Enabled in the draft' : 'Disabled in the draft'}</State>;
  const live = summary.isLive ? <State tone="good">Live</State> : <State tone="off">Not live</State>;
  if (isOn === summary.isLive) return live;
  return (
    <>
      {live}
      <Link to="/draft">
        <State tone="warn">{isOn ? 'Enabled in the draft' : 'Disabled in the draft'}</State>
      </Link>
    </>
  );
}

function Actions({ destination, summary }: ActionsProps): ReactElement {
  const navigate = useNavigate();
  const mayUpdate = useScope('destination:update');
  const mayDelete = useScope('destination:delete');
  const [isRemoving, setRemoving] = useState(false);
  const path = `/destinations/${destination.id}`;
  const turn = useChange((status: string) => request<Destination>('PATCH', path, { status }));
  const remove = useChange(() => request('DELETE', path));
  const isOn = destination.status === 'Enabled';
  return (
    <>
      <LiveState destination={destination} summary={summary} />
      {mayUpdate ? (
        <button type="button" disabled={turn.isPending} onClick={() => turn.mutate(isOn ? 'Disabled' : 'Enabled')}>
          {isOn ? 'Disable' : 'Enable'}
        </button>
      ) : null}
      {mayDelete ? (
        <button type="button" className="danger" onClick={() => setRemoving(true)}>
          Remove
        </button>
      ) : null}
      <ErrorNote error={turn.error} />
      {isRemoving ? (
        <Confirm
          title="Remove this destination?"
          action="Remove from the draft"
          isDanger
          onDone={() => setRemoving(false)}
          onConfirm={async () => {
            await remove.mutateAsync(undefined);
            discardUnsavedWork();
            await navigate('/destinations');
          }}
        >
          <p>It receives events until the draft is published. You can revert the draft until then.</p>
        </Confirm>
      ) : null}
    </>
  );
}
