"""Making the parts of the front end, and joining them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import discord

from bot.agent import Agent
from bot.agent.tools.memory import Recollection
from bot.events import RecordedEvent
from bot.frontend.approvals.decisions import Decisions
from bot.frontend.approvals.expiry import Expiry
from bot.frontend.control import Control
from bot.frontend.hearing.arrivals import Arrivals
from bot.frontend.hearing.catch_up import CatchUp
from bot.frontend.hearing.inbox import Inbox
from bot.frontend.hearing.rooms import Rooms
from bot.frontend.hearing.seen import Seen
from bot.frontend.ids import place_of
from bot.frontend.locks import Locks
from bot.frontend.options import FrontendOptions
from bot.frontend.own.forgetting import Forgetting
from bot.frontend.own.pruning import Pruning
from bot.frontend.own.purges import Purges
from bot.frontend.own.remembering import MemoryRules, Remembering
from bot.frontend.own.retention import Retention
from bot.frontend.people import People
from bot.frontend.rate import Rate
from bot.frontend.reading.message import MessageReader
from bot.frontend.recovery.comeback import Comeback
from bot.frontend.recovery.recovery import Recovery
from bot.frontend.recovery.rescue import Rescue
from bot.frontend.schedules.reminding import Reminders, Reminding
from bot.frontend.schedules.scheduling import Scheduling
from bot.frontend.settings.book import SettingsBook
from bot.frontend.settings.look import look_of, manner_of
from bot.frontend.showing.alone import Showing
from bot.frontend.showing.deliverer import Deliverer
from bot.frontend.showing.outbox import Outbox
from bot.frontend.showing.pacing import Pacing
from bot.frontend.showing.preview import Previews
from bot.frontend.showing.reconcile import Reconciler
from bot.frontend.showing.runs import Runs
from bot.frontend.showing.trouble import Outage, Trouble
from bot.frontend.stores import Stores
from bot.frontend.tasks import Tasks
from bot.frontend.usage.report import UsageDesk
from bot.frontend.view.elsewhere import Elsewhere
from bot.monitoring import Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the client itself uses.

    Attributes:
        work: Messages being heard and runs being followed.
        showing: What is being written to Discord.
        reading: What is being looked for that was missed.
    """

    forgetting: Forgetting
    purges: Purges
    retention: Retention
    arrivals: Arrivals
    catch_up: CatchUp
    seen: Seen
    control: Control
    decisions: Decisions
    people: People
    desk: UsageDesk
    recovery: Recovery
    rescue: Rescue | None
    remembering: Remembering
    reminders: Reminders
    scheduling: Scheduling
    expiry: Expiry
    previews: Previews
    reconciler: Reconciler
    work: Tasks
    showing: Tasks
    reading: Tasks


def wire(
    client: discord.Client,
    agent: Agent,
    *,
    stores: Stores,
    options: FrontendOptions,
    settings: SettingsBook,
    pacing: Pacing,
    metrics: Metrics,
) -> Parts:
    """Make all parts of the front end around a client and an agent."""
    work, showing, reading = Tasks(), Tasks(), Tasks()
    store, deliveries, marks = stores.sessions, stores.deliveries, stores.marks
    people = People(client, options, settings, stores.usage)
    outbox = Outbox(client, store.get_blob)
    outage, locks, seen = (
        Outage(outbox, noted=lambda: comeback.soon()),
        Locks[int](),
        Seen(stores.places),
    )
    rate, shown_by = Rate(options.turns_per_minute), manner_of(options)
    expiry = Expiry(lambda session_id: runs.start(session_id, agent.resume(session_id)))
    shown_here = Showing(stores.shared)
    deliverer = Deliverer(
        outbox=outbox,
        deliveries=deliveries,
        elsewhere=Elsewhere(client, stores.homes, settings.approvals_channel),
    )
    previews = Previews(
        write=deliverer.preview,
        pacing=pacing,
        tasks=showing,
        showing=shown_here,
        metrics=metrics,
    )
    reconciler = Reconciler(
        store=store,
        deliveries=deliveries,
        deliverer=deliverer,
        previews=previews,
        trouble=Trouble(client=client, store=store, outbox=outbox),
        expiry=expiry.arm,
        unseen=lambda *request: work.start(decisions.withhold(*request), name="withholding"),
        look=look_of(options, homes=stores.homes, settings=settings),
        tasks=showing,
        showing=shown_here,
        shown_by=shown_by,
    )

    def recorded(session_id: str, events: Sequence[RecordedEvent]) -> None:
        metrics.recorded(events)
        if place_of(session_id):
            reconciler.wake(session_id)

    agent.watch(recorded, on_outage=outage.note)
    runs = Runs(
        store=store,
        outbox=outbox,
        outage=outage,
        previews=previews,
        reconciler=reconciler,
        tasks=work,
        elsewhere=lambda session_id: rescue.mind(session_id) if rescue else None,
        metrics=metrics,
    )
    control = Control(agent=agent, store=store, runs=runs, reconciler=reconciler, rate=rate)
    decisions = Decisions(agent=agent, stores=stores, runs=runs, reconciler=reconciler)
    recovery = Recovery(
        agent=agent,
        rests=stores.rests,
        runs=runs,
        reconciler=reconciler,
        expect=expiry.expect,
        shown_by=shown_by,
        failed=lambda: comeback.soon(),
        homes=stores.homes,
        shards=options.shards,
    )
    rescue = None
    if stores.shared is not None:
        rescue = Rescue(
            agent=agent,
            store=stores.shared,
            runs=runs,
            reconciler=reconciler,
            ours=recovery.ours,
            recover=lambda: work.start(recovery.recover(), name="recovery"),
            ready=client.wait_until_ready,
            every=options.rescue_every,
        )
    comeback = Comeback(
        marks=marks,
        over=reconciler.retry,
        recover=recovery.recover,
        remind=lambda: reminders.wake(),
        waiting=reading,
        work=work,
    )
    purges = Purges(store, marks)
    forgetting = Forgetting(
        agent=agent,
        store=store,
        purges=purges,
        forgetters=stores.forgetters,
        reconciler=reconciler,
        runs=runs,
        tasks=work,
    )
    remembering = Remembering(
        memories=stores.memories,
        rules=MemoryRules(stores.consents, stores.homes),
        purges=purges,
        tasks=work,
    )
    inbox = Inbox(
        client=client,
        agent=agent,
        reader=MessageReader(client=client, store=store, deliveries=deliveries, options=options),
        marks=marks,
        homes=stores.homes,
        people=people,
        rooms=Rooms(client=client, store=store, marks=marks, outbox=outbox, settings=settings),
        runs=runs,
        outbox=outbox,
        outage=outage,
        locks=locks,
        rate=rate,
        recollection=Recollection(stores.memories, store, remembering.rules.allowed),
        options=options,
    )
    reminders = Reminders(
        Reminding(
            client=client,
            agent=agent,
            schedules=stores.schedules,
            homes=stores.homes,
            people=people,
            outbox=outbox,
            runs=runs,
            work=work,
            alone=stores.alone,
            failed=comeback.soon,
            is_ours=recovery.is_ours,
            clock=options.clock,
            window=options.catch_up_window,
        )
    )
    stores.schedules.on_added = reminders.wake
    arrivals = Arrivals(
        client=client,
        inbox=inbox,
        seen=seen,
        locks=locks,
        window=options.catch_up_window,
        on_behind=lambda: catch_up.retry(),
    )
    catch_up = CatchUp(client=client, arrivals=arrivals, places=stores.places, tasks=reading)
    retention = Retention(
        client=client,
        agent=agent,
        store=store,
        homes=stores.homes,
        places=stores.places,
        marks=marks,
        purges=purges,
        applications=stores.applications,
        shards=options.shards,
        pruning=Pruning(deliveries, stores.places),
        lifetime=options.lifetime,
    )
    return Parts(
        forgetting=forgetting,
        purges=purges,
        retention=retention,
        arrivals=arrivals,
        catch_up=catch_up,
        seen=seen,
        control=control,
        decisions=decisions,
        people=people,
        desk=UsageDesk(
            usage=stores.usage,
            budgets=options.budgets,
            people=people,
            server_limits=settings.limits_of,
        ),
        recovery=recovery,
        rescue=rescue,
        remembering=remembering,
        reminders=reminders,
        scheduling=Scheduling(schedules=stores.schedules, homes=stores.homes, clock=options.clock),
        expiry=expiry,
        previews=previews,
        reconciler=reconciler,
        work=work,
        showing=showing,
        reading=reading,
    )
