import { Suspense, lazy } from 'react';
import type { ReactElement } from 'react';
import { NavLink, Route, Routes } from 'react-router';
import { Loading } from '../design/feedback.tsx';
import { NotFound, Page } from '../design/page.tsx';
import { MappingsTab } from './mappings-tab.tsx';

const DispatchRulesTab = lazy(async () => ({ default: (await import('./dispatch-rules-tab.tsx')).DispatchRulesTab }));
const AllowedEventsTab = lazy(async () => ({ default: (await import('./allowed-events-tab.tsx')).AllowedEventsTab }));
const ConsentTab = lazy(async () => ({ default: (await import('./consent-tab.tsx')).ConsentTab }));

const tabs = [
  ['', 'Mappings'],
  ['/dispatch', 'Dispatch rules'],
  ['/events', 'Allowed events'],
  ['/consent', 'Consent'],
] as const;

/** The rules: which events go where, and in which form. */
export function RulesPage(): ReactElement {
  return (
    <Page
      title="Rules"
      lead="Rules decide which events go where, and in which form. Edit them in the draft and try them on a real event before publishing."
    >
      <nav className="tabs" aria-label="Kinds of rules">
        {tabs.map(([path, label]) => (
          <NavLink key={path} end to={`/rules${path}`}>
            {label}
          </NavLink>
        ))}
      </nav>
      <Suspense fallback={<Loading />}>
        <Routes>
          <Route index element={<MappingsTab />} />
          <Route path="dispatch" element={<DispatchRulesTab />} />
          <Route path="events" element={<AllowedEventsTab />} />
          <Route path="consent" element={<ConsentTab />} />
          <Route path="*" element={<NotFound />} />
        </Routes>
      </Suspense>
    </Page>
  );
}
