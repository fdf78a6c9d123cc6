import { Suspense, lazy } from 'react';
import type { ReactElement } from 'react';
import { NavLink, Route, Routes } from 'react-router';
import { Loading } from '../design/feedback.tsx';
import { NotFound, Page } from '../design/page.tsx';
import { ViolationsTab } from './violations-tab.tsx';

const QuarantineTab = lazy(async () => ({ default: (await import('./quarantine-tab.tsx')).QuarantineTab }));
const PersonalDataTab = lazy(async () => ({ default: (await import('./personal-data-tab.tsx')).PersonalDataTab }));
const PlanTab = lazy(async () => ({ default: (await import('./plan-tab.tsx')).PlanTab }));

const tabs = [
  ['', 'Violations'],
  ['/quarantine', 'Quarantine'],
  ['/rules', 'Rules'],
  ['/personal-data', 'Personal data'],
] as const;

/** The tracking plan: violations, quarantine, rules and personal data. */
export function TrackingPlanPage(): ReactElement {
  return (
    <Page
      title="Tracking plan"
      lead="Rules define what events must contain. Review violations, release quarantined events, and try the draft on recent events."
    >
      <nav className="tabs" aria-label="Parts of the tracking plan">
        {tabs.map(([path, label]) => (
          <NavLink key={path} end to={`/tracking-plan${path}`}>
            {label}
          </NavLink>
        ))}
      </nav>
      <Suspense fallback={<Loading />}>
        <Routes>
          <Route index element={<ViolationsTab />} />
          <Route path="quarantine" element={<QuarantineTab />} />
          <Route path="rules" element={<PlanTab />} />
          <Route path="personal-data" element={<PersonalDataTab />} />
          <Route path="*" element={<NotFound />} />
        </Routes>
      </Suspense>
    </Page>
  );
}
