import { useEffect } from 'react';
import type { ReactElement } from 'react';
import { useBlocker } from 'react-router';
import { Confirm } from '../design/confirm.tsx';
import { discardUnsavedWork, hasUnsavedWork } from './unsaved.ts';

/** Asks before a page with unsaved work is left: by a link, by the browser's back button, or by closing it. */
export function LeaveGuard(): ReactElement | null {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => hasUnsavedWork() && currentLocation.pathname !== nextLocation.pathname,
  );
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => {
      if (hasUnsavedWork()) event.preventDefault();
    };
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, []);
  if (blocker.state !== 'blocked') return null;
  return (
    <Confirm
      title="Leave without saving?"
      action="Leave without saving"
      cancel="Stay"
      isDanger
      onDone={() => blocker.reset?.()}
      onConfirm={async () => {
        discardUnsavedWork();
        blocker.proceed();
      }}
    >
      <p>The changes on this page are not saved and would be lost.</p>
    </Confirm>
  );
}
