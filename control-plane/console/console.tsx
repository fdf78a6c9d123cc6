import { Suspense, lazy, useEffect, useState } from 'react';
import type { ComponentType, LazyExoticComponent, ReactElement } from 'react';
import { Navigate, Route, Routes, useLocation, useNavigate } from 'react-router';
import { readAccounts, useAccounts } from './api/accounts.ts';
import { redeemLink, resumeSession } from './api/session.ts';
import { ErrorNote, Loading } from './design/feedback.tsx';
import { NotFound, Page } from './design/page.tsx';
import { LeaveGuard } from './forms/leave-guard.tsx';
import { OverviewPage } from './overview/overview-page.tsx';
import { Shell } from './shell/shell.tsx';
import { SignInPage } from './shell/sign-in-page.tsx';

type LazyPage = LazyExoticComponent<ComponentType>;

const page = (load: () => Promise<ComponentType>): LazyPage => lazy(async () => ({ default: await load() }));

const SearchDialog = lazy(async () => ({ default: (await import('./search/search-dialog.tsx')).SearchDialog }));

// Pages load on their first visit.
const pages: readonly (readonly [path: string, page: LazyPage])[] = [
  ['destinations', page(async () => (await import('./destinations/destinations-page.tsx')).DestinationsPage)],
  ['destinations/new', page(async () => (await import('./destinations/new-destination-page.tsx')).NewDestinationPage)],
  [
    'destinations/:id/dead-letters/:seq',
    page(async () => (await import('./destinations/dead-letter-page.tsx')).DeadLetterPage),
  ],
  ['destinations/:id/*', page(async () => (await import('./destinations/destination-page.tsx')).DestinationPage)],
  ['events/search', page(async () => (await import('./events/search-page.tsx')).SearchPage)],
  ['events', page(async () => (await import('./events/events-page.tsx')).EventsPage)],
  ['events/:id', page(async () => (await import('./events/event-page.tsx')).EventPage)],
  ['map', page(async () => (await import('./map/map-page.tsx')).MapPage)],
  ['visitors', page(async () => (await import('./visitors/visitors-page.tsx')).VisitorsPage)],
  ['visitors/:id', page(async () => (await import('./visitors/visitor-page.tsx')).VisitorPage)],
  ['erasures', page(async () => (await import('./visitors/erasures-page.tsx')).ErasuresPage)],
  ['erasures/:id', page(async () => (await import('./visitors/erasure-page.tsx')).ErasurePage)],
  ['sources', page(async () => (await import('./sources/sources-page.tsx')).SourcesPage)],
  ['sources/:id', page(async () => (await import('./sources/source-page.tsx')).SourcePage)],
  ['rules/*', page(async () => (await import('./rules/rules-page.tsx')).RulesPage)],
  ['rules/new-mapping', page(async () => (await import('./rules/mapping-page.tsx')).MappingPage)],
  ['rules/mappings/:id', page(async () => (await import('./rules/mapping-page.tsx')).MappingPage)],
  ['rules/new-event', page(async () => (await import('./rules/allowed-event-page.tsx')).AllowedEventPage)],
  ['rules/events/:id', page(async () => (await import('./rules/allowed-event-page.tsx')).AllowedEventPage)],
  ['rules/new-purpose', page(async () => (await import('./rules/purpose-page.tsx')).PurposePage)],
  ['rules/purposes/:id', page(async () => (await import('./rules/purpose-page.tsx')).PurposePage)],
  ['tracking-plan/*', page(async () => (await import('./tracking-plan/tracking-plan-page.tsx')).TrackingPlanPage)],
  ['tracking-plan/new-rule', page(async () => (await import('./tracking-plan/plan-rule-page.tsx')).PlanRulePage)],
  [
    'tracking-plan/new-event',
    page(async () => (await import('./tracking-plan/planned-event-page.tsx')).PlannedEventPage),
  ],
  [
    'tracking-plan/events/:id',
    page(async () => (await import('./tracking-plan/planned-event-page.tsx')).PlannedEventPage),
  ],
  ['tracking-plan/rules/:id', page(async () => (await import('./tracking-plan/plan-rule-page.tsx')).PlanRulePage)],
  ['experiments', page(async () => (await import('./experiments/experiments-page.tsx')).ExperimentsPage)],
  ['experiments/:id', page(async () => (await import('./experiments/experiment-page.tsx')).ExperimentPage)],
  ['account', page(async () => (await import('./account/account-page.tsx')).AccountPage)],
  ['keys', page(async () => (await import('./keys/keys-page.tsx')).KeysPage)],
  ['users', page(async () => (await import('./users/users-page.tsx')).UsersPage)],
  ['draft', page(async () => (await import('./draft/draft-page.tsx')).DraftPage)],
  ['versions', page(async () => (await import('./draft/versions-page.tsx')).VersionsPage)],
  ['versions/:id/privacy', page(async () => (await import('./draft/privacy-report-page.tsx')).PrivacyReportPage)],
  ['versions/:id', page(async () => (await import('./draft/version-page.tsx')).VersionPage)],
  ['audit', page(async () => (await import('./system/audit-page.tsx')).AuditPage)],
  ['system/runbook/:section?', page(async () => (await import('./system/runbook-page.tsx')).RunbookPage)],
  ['system', page(async () => (await import('./system/system-page.tsx')).SystemPage)],
];

/** The console: signed-in users see the page of the address, all others the sign-in page. */
export function Console(): ReactElement {
  const { all, current } = useAccounts();
  const [error, setError] = useState<unknown>();
  const location = useLocation();
  const navigate = useNavigate();
  useEffect(() => {
    const code = location.pathname === '/sign-in' ? location.hash.slice(1) : '';
    const begin = async (): Promise<void> => {
      try {
        if (readAccounts().all === undefined) await resumeSession();
        if (code === '') return;
        setError(undefined);
        // The code is removed from the address before it is used, so that it stays out of the history.
        void navigate('/sign-in', { replace: true });
        await redeemLink(code);
      } catch (failure) {
        setError(failure);
      }
    };
    void begin();
    // Opening a second link in the same tab changes only the part after #, so no page is loaded.
  }, [location.pathname, location.hash]);
  if (all === undefined) return error === undefined ? <Loading /> : <ErrorNote error={error} />;
  if (current === undefined) return <SignInPage failed={error} />;
  return (
    <Shell
      // What one key or user was shown is not kept for the next.
      key={JSON.stringify(current)}
      search={(onDone) => (
        <Suspense>
          <SearchDialog onDone={onDone} />
        </Suspense>
      )}
    >
      <LeaveGuard />
      <Suspense fallback={<Loading />}>
        <Routes>
          <Route index element={<OverviewPage />} />
          <Route path="sign-in" element={<Navigate to="/" replace />} />
          {pages.map(([path, Component]) => (
            <Route key={path} path={path} element={<Component />} />
          ))}
          <Route path="*" element={<NoPage />} />
        </Routes>
      </Suspense>
    </Shell>
  );
}

function NoPage(): ReactElement {
  return (
    <Page title="Page not found">
      <NotFound />
    </Page>
  );
}
