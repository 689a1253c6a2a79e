//! A batch with partners plays what tables with the same bots play, game by game.

#[path = "helpers/buffers.rs"]
mod buffers;

use std::sync::Arc;

use buffers::Buffers;
use starmine::batch::{
    AutoresetMode, Batch, BatchError, BotTurns, IllegalAction, Options, Outputs, Partners, Seeds,
    Worlds,
};
use starmine::bots::{BOTS, BotKind, GameRunner, Player};
use starmine::players::PlayerSpec;
use starmine::rules::{EpisodeSeed, PRESETS, Seat, Variant, View, preset};

const GAMES: usize = 11;
const SEED: u64 = 5;

fn variant(name: &str, players: u8) -> Arc<Variant> {
    let mut parameters = preset(name).unwrap().parameters();
    parameters.players = players.into();
    Arc::new(Variant::new(parameters).unwrap())
}

fn player(name: &str, variant: &Variant) -> Player {
    name.parse::<PlayerSpec>().unwrap().player(variant).unwrap()
}

/// The bots that play a variant.
fn bots_of(variant: &Variant) -> impl Iterator<Item = &'static BotKind> {
    let plays = |bot: &&BotKind| bot.name.parse::<PlayerSpec>().unwrap().player(variant).is_ok();
    BOTS.iter().filter(plays)
}

fn partners(seats: &[(Seat, &[&str])]) -> Partners {
    seats.iter().fold(Partners::default(), |partners, (seat, names)| {
        partners.with(*seat, names.iter().map(|name| name.parse().unwrap()).collect()).unwrap()
    })
}

/// A legal action of a game, any that the number picks; 0 if the game is over.
fn legal_action(batch: &Batch, game: usize, pick: usize) -> i64 {
    let legal = batch.legal_actions(game);
    let action = legal.iter().nth(pick % legal.len().max(1));
    action.map_or(0, |action| u8::from(action).into())
}

/// Tables beside a batch.
struct Mirror {
    tables: Vec<GameRunner>,
    players: Vec<Player>,
    mode: AutoresetMode,
}

impl Mirror {
    fn new(variant: &Arc<Variant>, seats: &[(Seat, &str)], mode: AutoresetMode) -> Mirror {
        let mut players = vec![Player::External; variant.players().into()];
        for &(seat, name) in seats {
            players[seat.index()] = player(name, variant);
        }
        let table = |game| {
            let seed = EpisodeSeed { seed: SEED, game, episode: 0 };
            let mut table = GameRunner::new(variant.clone(), players.clone(), seed).unwrap();
            next_turn(&mut table);
            table
        };
        Mirror { tables: (0..GAMES as u64).map(table).collect(), players, mode }
    }

    fn is_learner(&self, seat: Seat) -> bool {
        matches!(self.players[seat.index()], Player::External)
    }

    /// Deals the next episode of a game in which the learner has a turn.
    fn deal(&mut self, game: usize) {
        let table = &self.tables[game];
        let (variant, seed) = (table.variant().clone(), table.seed().next());
        self.tables[game] = GameRunner::new(variant, self.players.clone(), seed).unwrap();
        next_turn(&mut self.tables[game]);
    }

    /// Plays the learner's action in one game and compares what the batch wrote.
    fn check(&mut self, game: usize, action: i64, written: &Buffers<f32>) {
        if self.tables[game].ending().is_some() {
            assert_eq!((written.reward[game], written.terminated[game]), (0.0, false));
            self.deal(game);
        } else {
            self.play(game, action, written);
        }
        self.check_position(game, written);
    }

    /// Plays the learner's action in a game that is not over.
    fn play(&mut self, game: usize, action: i64, written: &Buffers<f32>) {
        let begun = self.tables[game].history().iter().any(|turn| self.is_learner(turn.seat));
        let table = &mut self.tables[game];
        let variant = table.variant().clone();
        // The learner's first reward has the points that partners made before it.
        let before = if begun { table.view(Seat::FIRST).score() } else { 0 };
        table.play(variant.action_to_move(variant.action_id(action).unwrap()).unwrap()).unwrap();
        table.run().unwrap();
        let score = table.view(Seat::FIRST).score();
        assert_eq!(written.reward[game], f32::from(score) - f32::from(before));
        let ended = table.ending().is_some();
        assert_eq!(written.terminated[game], ended);
        if ended {
            assert_eq!(written.final_score[game], i32::from(score));
            assert_eq!(written.final_length[game], table.length() as i32);
            if self.mode == AutoresetMode::SameStep {
                self.deal(game);
            }
        }
    }

    /// Compares the outputs that describe the game as it stands.
    fn check_position(&self, game: usize, written: &Buffers<f32>) {
        let table = &self.tables[game];
        let view = table.view(table.current_player());
        assert_eq!(written.current_player[game], i32::from(u8::from(view.current_player())));
        assert_eq!(written.score[game], i32::from(view.score()));
        let legal = view.legal_actions();
        let actions = table.variant().num_actions();
        for action in 0..actions {
            assert_eq!(
                written.action_mask[game * actions + action],
                legal.bits() >> action & 1 == 1
            );
        }
    }
}

/// Whether a game of a batch and a table are in the same position.
fn is_same(batch: &Batch, game: usize, table: &GameRunner) -> bool {
    let expected = table.seer_view(Seat::FIRST);
    batch.look_as_seer(game, Seat::FIRST, |view| *view == expected)
}

/// Lets the partners play up to the learner's turn, in the first episode that has one.
fn next_turn(table: &mut GameRunner) {
    table.run().unwrap();
    while table.ending().is_some() {
        table.start(table.seed().next());
        table.run().unwrap();
    }
}

/// Plays this many steps and returns the batch; the mirror must agree in each. Games that have ended are
/// dealt anew as the mode says, with `Disabled` by a reset.
fn play_in(
    mode: AutoresetMode,
    variant: &Arc<Variant>,
    seats: &[(Seat, &str)],
    threads: usize,
    steps: usize,
) -> Batch {
    let choices: Vec<(Seat, Vec<&str>)> =
        seats.iter().map(|&(seat, name)| (seat, vec![name])).collect();
    let choices: Vec<(Seat, &[&str])> =
        choices.iter().map(|(seat, names)| (*seat, names.as_slice())).collect();
    let options = Options {
        partners: partners(&choices),
        num_threads: threads,
        autoreset_mode: mode,
        ..Options::default()
    };
    let mut batch = Batch::new(variant.clone(), GAMES, SEED, options).unwrap();
    let mut mirror = Mirror::new(variant, seats, mode);
    let mut written = Buffers::<f32>::new(&batch);
    batch.observe(written.outputs()).unwrap();
    for step in 0..steps {
        let actions: Vec<i64> =
            (0..GAMES).map(|game| legal_action(&batch, game, step * 7 + game * 3)).collect();
        batch.step(&actions, written.outputs()).unwrap();
        for (game, &action) in actions.iter().enumerate() {
            mirror.check(game, action, &written);
            assert!(is_same(&batch, game, &mirror.tables[game]), "game {game}");
        }
        if mode == AutoresetMode::Disabled && written.terminated.contains(&true) {
            let over = written.terminated.to_vec();
            batch.reset(Seeds::Continue, Some(&over), written.outputs()).unwrap();
            for game in (0..GAMES).filter(|&game| over[game]) {
                mirror.deal(game);
                mirror.check_position(game, &written);
            }
        }
    }
    batch
}

/// As [`play_in`], with a deal in the step that ends a game.
fn play(variant: &Arc<Variant>, seats: &[(Seat, &str)], threads: usize, steps: usize) -> Batch {
    play_in(AutoresetMode::SameStep, variant, seats, threads, steps)
}

#[test]
fn every_bot_plays_as_at_a_table() {
    for players in [2, 3, 5] {
        let variant = variant("standard", players);
        for bot in bots_of(&variant) {
            play(&variant, &[(Seat::ALL[1], bot.name)], 1, 60);
            let all: Vec<(Seat, &str)> =
                variant.seats().take(players as usize - 1).map(|seat| (seat, bot.name)).collect();
            play(&variant, &all, 2, 60);
        }
    }
}

#[test]
fn games_that_end_are_dealt_anew_as_the_mode_says() {
    for players in [2, 3] {
        let variant = variant("standard", players);
        let last = Seat::ALL[usize::from(players) - 1];
        for &mode in AutoresetMode::ALL {
            for seats in [&[(last, "random")][..], &[(Seat::FIRST, "random"), (last, "flawed")]] {
                play_in(mode, &variant, &seats[..seats.len().min(players as usize - 1)], 2, 80);
            }
        }
    }
}

#[test]
fn every_variant_has_partners() {
    for row in PRESETS {
        let variant = variant(row.name, 2);
        for bot in BOTS.iter().filter(|bot| bot.plays_every_preset()) {
            play(&variant, &[(Seat::FIRST, bot.name)], 1, 60);
        }
    }
}

#[test]
fn copies_and_stored_batches_go_on_alike() {
    let variant = variant("standard", 3);
    for bot in bots_of(&variant) {
        let mut batch = play(&variant, &[(Seat::FIRST, bot.name), (Seat::ALL[2], "random")], 1, 37);
        let mut copy = batch.try_clone().unwrap();
        let mut stored = Batch::from_bytes(&batch.to_bytes().unwrap(), None).unwrap();
        let mut written = Buffers::<f32>::new(&batch);
        batch.observe(written.outputs()).unwrap();
        for step in 0..40 {
            let actions: Vec<i64> =
                (0..GAMES).map(|game| legal_action(&batch, game, step)).collect();
            batch.step(&actions, written.outputs()).unwrap();
            for other in [&mut copy, &mut stored] {
                let mut theirs = Buffers::<f32>::new(other);
                other.step(&actions, theirs.outputs()).unwrap();
                assert_eq!(theirs, written);
            }
        }
    }
}

#[test]
fn partners_are_drawn_for_each_episode_from_its_seed() {
    const GAMES: usize = 64;
    let variant = variant("standard", 2);
    let choices = ["simple", "flawed"];
    let options = Options { partners: partners(&[(Seat::ALL[1], &choices)]), ..Options::default() };
    let mut batch = Batch::new(variant.clone(), GAMES, SEED, options.clone()).unwrap();
    let mut again = Batch::new(variant.clone(), GAMES, SEED, options).unwrap();
    // In the next episode partners are drawn anew.
    let mut drawn = [0, 1].map(|_| Vec::new());
    for (episode, drawn) in (0..).zip(&mut drawn) {
        let actions: Vec<i64> = (0..GAMES).map(|game| legal_action(&batch, game, 12)).collect();
        batch.step(&actions, Outputs::default()).unwrap();
        again.step(&actions, Outputs::default()).unwrap();
        for (game, &action) in actions.iter().enumerate() {
            let after = choices.map(|name| {
                let bot = player(name, &variant);
                let seed = EpisodeSeed { seed: SEED, game: game as u64, episode };
                let mut table =
                    GameRunner::new(variant.clone(), vec![Player::External, bot], seed).unwrap();
                table
                    .play(variant.action_to_move(variant.action_id(action).unwrap()).unwrap())
                    .unwrap();
                table.run().unwrap();
                table
            });
            let found = after.each_ref().map(|table| is_same(&batch, game, table));
            assert!(found[0] || found[1]);
            assert_eq!(found, after.each_ref().map(|table| is_same(&again, game, table)));
            if found != [true, true] {
                drawn.push((game, found[0]));
            }
        }
        batch.reset(Seeds::Continue, None, Outputs::default()).unwrap();
        again.reset(Seeds::Continue, None, Outputs::default()).unwrap();
    }
    for drawn in &drawn {
        let first = drawn.iter().filter(|(_, is_first)| *is_first).count();
        assert!(drawn.len() > 20 && first * 4 > drawn.len() && first * 4 < drawn.len() * 3);
    }
    assert_ne!(drawn[0], drawn[1]);
}

#[test]
fn an_illegal_action_loses_that_game_alone() {
    let variant = variant("standard", 2);
    for mode in [AutoresetMode::SameStep, AutoresetMode::NextStep, AutoresetMode::Disabled] {
        let options = Options {
            partners: partners(&[(Seat::ALL[1], &["random"])]),
            illegal_action: IllegalAction::Terminate,
            autoreset_mode: mode,
            ..Options::default()
        };
        let mut batch = Batch::new(variant.clone(), GAMES, SEED, options).unwrap();
        let mut written = Buffers::<f32>::new(&batch);
        // Discarding with all tokens is illegal; playing is not.
        let mut actions = [5; GAMES];
        actions[3] = 0;
        actions[9] = -1;
        batch.step(&actions, written.outputs()).unwrap();
        for game in [3, 9] {
            // As without partners, the illegal action counts as a turn.
            assert_eq!(written.final_length[game], 1);
        }
        for game in 0..GAMES {
            assert_eq!(written.illegal_action[game], game == 3 || game == 9);
            assert_eq!(written.terminated[game], game == 3 || game == 9);
        }
        let dealt_anew: &[usize] = if mode == AutoresetMode::SameStep { &[3, 9] } else { &[] };
        assert_eq!(batch.finished().unwrap(), dealt_anew);
        for game in [3, 9] {
            let episode = batch.episodes().nth(game).unwrap().episode;
            let is_dealt_anew = mode == AutoresetMode::SameStep;
            assert_eq!(episode, u64::from(is_dealt_anew));
            assert_eq!(batch.legal_actions(game).iter().next().is_some(), is_dealt_anew);
        }
        let mut stored = Batch::from_bytes(&batch.to_bytes().unwrap(), None).unwrap();
        if mode == AutoresetMode::NextStep {
            let mut theirs = Buffers::<f32>::new(&batch);
            batch.step(&[5; GAMES], written.outputs()).unwrap();
            stored.step(&[5; GAMES], theirs.outputs()).unwrap();
            assert_eq!(written, theirs);
            assert_eq!((written.reward[3], written.terminated[3]), (0.0, false));
        }
    }
}

#[test]
fn a_game_of_a_batch_is_looked_at() {
    let variant = variant("standard", 2);
    let batch = Batch::new(variant.clone(), 2, 7, Options::default()).unwrap();
    let state = starmine::rules::State::new(variant, EpisodeSeed { seed: 7, game: 1, episode: 0 });
    for seat in [Seat::FIRST, Seat::ALL[1]] {
        let hand = |view: &View<'_>| view.hand(starmine::rules::Offset::NEXT).collect::<Vec<_>>();
        assert_eq!(batch.look(1, seat, hand), hand(&state.view(seat)));
        assert!(batch.look(1, seat, |view| view.history().is_none()));
    }
    for (game, seat) in [(2, Seat::FIRST), (0, Seat::ALL[2])] {
        let look = || batch.look(game, seat, |view| view.score());
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(look)).is_err());
    }
}

#[test]
fn a_step_does_not_play_the_turn_of_an_external_partner() {
    let external = PlayerSpec::external();
    let partners = Partners::default().with(Seat::ALL[1], vec![external]).unwrap();
    let options = Options { partners, ..Options::default() };
    let mut batch = Batch::new(variant("standard", 2), 3, SEED, options).unwrap();
    let first = |batch: &Batch| {
        let first = |game| batch.legal_actions(game).iter().next().unwrap().into();
        (0..3).map(first).collect::<Vec<i64>>()
    };
    assert!(matches!(batch.to_bytes(), Err(BatchError::NotStored(_))));
    batch.step(&first(&batch), Outputs::default()).unwrap();
    let (before, actions) = (batch.partner_state(1), first(&batch));
    for _ in 0..2 {
        let refused = batch.step(&actions, Outputs::default());
        assert!(matches!(refused, Err(BatchError::Partners(_))), "{refused:?}");
    }
    assert_eq!(batch.partner_state(1), before);
    batch.play_partners(&actions, &[true; 3], BotTurns::UntilExternal).unwrap();
    assert!(batch.to_act().all(|seat| seat == Some(Seat::FIRST)));
    let refused = batch.play_partners(&actions, &[true; 3], BotTurns::UntilExternal);
    assert!(matches!(refused, Err(BatchError::Partners(_))), "{refused:?}");
    batch.step(&first(&batch), Outputs::default()).unwrap();
}

#[test]
fn the_action_of_a_game_that_waits_for_a_bot_is_not_counted_as_illegal() {
    let seats = [(Seat::ALL[1], &["iggi"][..]), (Seat::ALL[2], &["iggi"])];
    let external = vec![PlayerSpec::external()];
    let partners = partners(&seats).with(Seat::ALL[3], external).unwrap();
    let options = Options { partners, ..Options::default() };
    let mut batch = Batch::new(variant("standard", 4), 3, SEED, options).unwrap();
    batch.begin_step(&[5; 3]).unwrap();
    assert!(batch.to_act().all(|seat| seat == Some(Seat::ALL[1])));
    batch.play_partners(&[99; 3], &[true, false, false], BotTurns::One).unwrap();
    batch.play_partners(&[99; 3], &[false, true, false], BotTurns::UntilExternal).unwrap();
    let found: Vec<usize> = batch.to_act().map(|seat| seat.unwrap().index()).collect();
    assert_eq!(found, [2, 3, 1]);
    let error = batch.play_partners(&[99; 3], &[true; 3], BotTurns::One);
    let Err(BatchError::IllegalActions(error)) = error else { panic!("{error:?}") };
    assert_eq!((error.count, error.listed[0].game), (1, 1));
}

/// The checksum of all outputs of some steps of legal actions that differ from step to step.
fn checksum(batch: &mut Batch, steps: usize) -> u32 {
    let mut written = Buffers::<f32>::new(batch);
    batch.observe(written.outputs()).unwrap();
    let mut hasher = crc32fast::Hasher::new();
    for step in 0..=steps {
        if step > 0 {
            let actions: Vec<i64> =
                (0..batch.num_envs()).map(|game| legal_action(batch, game, step)).collect();
            batch.step(&actions, written.outputs()).unwrap();
        }
        let bits =
            |values: &[f32]| values.iter().map(|value| *value as i8 as u8).collect::<Vec<_>>();
        hasher.update(&bits(&written.obs));
        hasher.update(&bits(&written.reward));
        let mask: Vec<u8> = written.action_mask.iter().map(|&legal| legal.into()).collect();
        hasher.update(&mask);
        for numbers in [&written.final_score, &written.final_length, &written.current_player] {
            hasher.update(&numbers.iter().map(|&number| number as u8).collect::<Vec<_>>());
        }
    }
    hasher.finalize()
}

/// A batch with a mixture in one seat, after some steps; an illegal action has just ended game 2.
fn mixed_batch() -> Batch {
    let choices = ["smart", "random"].map(|name| name.parse().unwrap()).to_vec();
    let partners = Partners::default().with_weights(Seat::ALL[1], choices, vec![1.0, 2.0]).unwrap();
    let options = Options {
        partners,
        autoreset_mode: AutoresetMode::NextStep,
        illegal_action: IllegalAction::Terminate,
        ..Options::default()
    };
    let mut batch = Batch::new(variant("standard", 3), 6, SEED, options).unwrap();
    checksum(&mut batch, 40);
    let mut actions: Vec<i64> = (0..6).map(|game| legal_action(&batch, game, 3)).collect();
    actions[2] = -1;
    batch.step(&actions, Outputs::default()).unwrap();
    batch
}

#[test]
fn a_batch_of_version_0_4_with_a_mixture_and_a_forfeited_game_goes_on() {
    let stored = include_bytes!("data/compat/0.4/batch-mixture.bin");
    let mut batch = mixed_batch();
    assert_eq!(batch.to_bytes().unwrap(), stored);
    let mut resumed = Batch::from_bytes(stored, None).unwrap();
    assert_eq!(resumed.to_bytes().unwrap(), stored);
    assert!(resumed.legal_actions(2).is_empty());
    assert_eq!(checksum(&mut resumed, 40), 1_147_777_500);
    assert_eq!(checksum(&mut batch, 40), 1_147_777_500);
}

#[test]
fn worlds_of_a_batch_with_partners_have_the_bits_of_version_0_4() {
    let batch = mixed_batch();
    let worlds = Worlds { count: 3, seed: 9, observer: None, games: None };
    assert_eq!(checksum(&mut batch.worlds(worlds).unwrap(), 60), 951_287_427);
    let worlds = Worlds { observer: Some(Seat::ALL[2]), ..worlds };
    assert_eq!(checksum(&mut batch.worlds(worlds).unwrap(), 60), 1_440_313_865);
}
